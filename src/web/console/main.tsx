// The console's entry: puts the page into the document.
import { render } from 'preact'

render(
  <main>
    <h1>plantstore</h1>
  </main>,
  document.body,
)
