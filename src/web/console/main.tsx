// The console's entry: puts the page into the document.

import { render } from 'preact'
import { App } from './app.tsx'
import { createConsole } from './console.ts'

// Below whatever path a proxy has it.
const base = new URL('.', document.location.href)

render(<App console={createConsole(base)} />, document.body)
