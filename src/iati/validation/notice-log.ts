import type { Notice, NoticeSummary } from '../../kernel/notice.js'
import { detached } from './detached.js'

export type NoticeLog = {
  add(notice: Notice): void
  report(): { summary: NoticeSummary; samples: readonly Notice[] }
}

/** Counts every notice and keeps the first `samplesPerCode` of each code, in the order they came. */
export function noticeLog(samplesPerCode: number): NoticeLog {
  const samples: Notice[] = []
  const byCode: Record<string, number> = {}
  const bySeverity = { error: 0, warning: 0, info: 0 }
  return {
    add(notice) {
      const count = (byCode[notice.code] ?? 0) + 1
      byCode[notice.code] = count
      bySeverity[notice.severity] += 1
      if (count > samplesPerCode) return
      const { subject, path, detail } = notice
      samples.push({ ...notice, subject: detached(subject), path: detached(path), detail: detached(detail) })
    },
    report: () => ({
      summary: { errors: bySeverity.error, warnings: bySeverity.warning, infos: bySeverity.info, byCode },
      samples,
    }),
  }
}
