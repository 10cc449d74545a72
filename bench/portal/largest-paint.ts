import { browserProgram, launchBrowser, sizes } from '../../test/support/portal/browser.js'

/** Slow 4G as browsers name it: 1.6 Mbit/s down, 750 kbit/s up, 150 ms for a round trip. */
const slow4G = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 93_750 }
const slowerCpu = 4

// The paint that counts is the last one that the browser tells; it tells those from before too.
const largestPaint = `new Promise((resolve) => {
  let last = NaN
  new PerformanceObserver((list) => { last = list.getEntries().at(-1).startTime })
    .observe({ type: 'largest-contentful-paint', buffered: true })
  setTimeout(() => resolve(last), 1000)
})`

/**
 * Milliseconds until the largest part of each page is painted (Largest Contentful Paint), on a phone with slow 4G and a
 * quarter of this machine's processor, nothing kept by the browser, and what the phone loads; undefined where there is no browser.
 */
export async function timeLargestPaints(
  url: string,
  paths: readonly string[],
): Promise<{ path: string; milliseconds: number; kilobytes: number; requests: number }[] | undefined> {
  if (!browserProgram) return undefined
  const browser = await launchBrowser()
  const paints = []
  for (const path of paths) {
    const context = await browser.newContext({ viewport: sizes.phone, bypassCSP: true })
    const page = await context.newPage()
    const devtools = await context.newCDPSession(page)
    await devtools.send('Network.enable')
    await devtools.send('Network.emulateNetworkConditions', slow4G)
    await devtools.send('Emulation.setCPUThrottlingRate', { rate: slowerCpu })
    const loaded: number[] = []
    devtools.on('Network.loadingFinished', ({ encodedDataLength }) => loaded.push(encodedDataLength))
    await page.goto(url + path, { waitUntil: 'load' })
    const milliseconds = Number(await page.evaluate(largestPaint))
    const kilobytes = loaded.reduce((sum, one) => sum + one, 0) / 1000
    paints.push({ path, milliseconds, kilobytes, requests: loaded.length })
    await context.close()
  }
  await browser.close()
  return paints
}
