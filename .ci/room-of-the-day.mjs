#!/usr/bin/env node
// Prints the files of which a night makes mutants: one of the parts of stryker.config.json each day.
import { readFileSync } from 'node:fs'

const { mutate } = JSON.parse(readFileSync('stryker.config.json', 'utf8'))
const parts = mutate.filter((part) => !part.startsWith('!'))
process.stdout.write(parts[Math.floor(Date.now() / 86_400_000) % parts.length])
