import { type StoppableServer, stopUnusedServer } from './unused-server.js'

// Run by `guardServer` after the process that it guards has ended.
await stopUnusedServer(JSON.parse(process.argv[2] ?? '') as StoppableServer)
