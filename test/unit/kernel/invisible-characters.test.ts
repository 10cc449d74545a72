import { describe, expect, it } from 'vitest'
import { escapeInvisible, escapeInvisibleInJson } from '../../../src/kernel/invisible-characters.js'

describe('text from outside', () => {
  it.each([
    ['an escape sequence', '\x1b[31mred\x1b]0;title\x07', '\\u{1B}[31mred\\u{1B}]0;title\\u{7}'],
    ['a C1 control', '\u009b2J', '\\u{9B}2J'],
    ['a line that pretends to be another', 'a\r\nb\u2028c', 'a\\u{D}\\u{A}b\\u{2028}c'],
    ['a change of direction', 'gpj\u202eexe', 'gpj\\u{202E}exe'],
    ['zero-width characters', 'pay\u200bpal\ufeff\u2060', 'pay\\u{200B}pal\\u{FEFF}\\u{2060}'],
    ['letters that show nothing', 'a\u3164b\u115fc\u034fd', 'a\\u{3164}b\\u{115F}c\\u{34F}d'],
    ['tags and private characters', 'a\u{e0041}\ue000', 'a\\u{E0041}\\u{E000}'],
    ['half of a pair', 'a\ud800b', 'a\\u{D800}b'],
  ])('shows %s', (_, given, printed) => {
    expect(escapeInvisible(given)).toBe(printed)
  })

  it.each(['Wells for Tara', 'Ärzte ohne Grenzen, 水, مياه', 'a heart: ❤️ 😀'])('stays as it is: %s', (text) => {
    expect(escapeInvisible(text)).toBe(text)
    expect(escapeInvisibleInJson(JSON.stringify(text))).toBe(JSON.stringify(text))
  })

  it('stays the same JSON', () => {
    const value = { 'key\u200b': ['\x1b[31m\x7f\u009b\u202e\u2028', '\u{e0041}', 'line\nbreak', '😀'] }
    const json = escapeInvisibleInJson(`${JSON.stringify(value)}\n`)
    expect(json).toMatch(/^[^\p{C}\p{Zl}]*\n$/u)
    expect(JSON.parse(json)).toEqual(value)
  })
})
