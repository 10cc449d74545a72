import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { runCommandLine } from '../../support/commands/command-line.js'

/** What a shell would offer after these words; `''` is the beginning of a next word. */
type Offer = (words: readonly string[]) => Promise<string[]>

async function scriptFor(shell: string): Promise<string> {
  const { code, stdout } = await runCommandLine(['completion', shell], {})
  expect(code).toBe(0)
  return stdout
}

function run(shell: string, script: string, ...args: readonly string[]): string[] {
  const { status, stdout, stderr } = spawnSync(shell, ['-c', script, shell, ...args], { encoding: 'utf8' })
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
  return stdout.split('\n').filter(Boolean)
}

const offers: Readonly<Record<string, Offer>> = {
  bash: async (words) => {
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the shell
    const ask = 'COMP_WORDS=(giving "$@"); COMP_CWORD=$#; _giving; printf "%s\\n" "${COMPREPLY[@]}"'
    return run('bash', `${await scriptFor('bash')}\n${ask}`, ...words)
  },
  zsh: async (words) => {
    // The builtins of zsh's completion system work only in its line editor: these say what they were asked.
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the shell
    const builtins = 'compdef() { :; }; _files() { :; }; compadd() { shift; print -l -- ${(M)@:#$words[CURRENT]*}; }'
    const ask = 'words=(giving "$@"); CURRENT=$#words; _giving'
    return run('zsh', `${builtins}\n${await scriptFor('zsh')}\n${ask}`, ...words)
  },
  fish: async (words) => {
    const offered = run('fish', `${await scriptFor('fish')}\ncomplete --do-complete 'giving ${words.join(' ')}'`)
    return offered.map((line) => line.split('\t')[0] ?? '')
  },
}

for (const [shell, offer] of Object.entries(offers)) {
  const isMissing = spawnSync(shell, ['-c', 'true']).error !== undefined
  if (isMissing) console.log(`the completion of ${shell} is not tried: it is not installed`)
  describe.skipIf(isMissing)(`giving completion ${shell}`, () => {
    it('offers commands, their commands, their options and the values of their arguments', async () => {
      expect(await offer([''])).toEqual(expect.arrayContaining(['start', 'users', 'completion', 'help']))
      expect(await offer(['us'])).toEqual(['users'])
      expect(await offer(['users', 'c'])).toEqual(['create'])
      expect(await offer(['users', 'create', '--pass'])).toEqual(['--password-stdin'])
      expect(await offer(['releases', 'list', '--js'])).toEqual(['--json'])
      expect((await offer(['completion', ''])).sort()).toEqual(expect.arrayContaining(['bash', 'fish', 'zsh']))
    })

    it('offers commands only where they may stand', async () => {
      expect(await offer(['users', 'publ'])).toEqual([])
      expect(await offer(['import', '--kind', 'projects', '--dry'])).toEqual(['--dry-run'])
    })
  })
}

it('refuses a shell that it does not know', async () => {
  expect((await runCommandLine(['completion', 'tcsh'], {})).code).toBe(2)
})
