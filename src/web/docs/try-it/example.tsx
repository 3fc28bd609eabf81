// The request of a form as code, in each language.
import { Code } from '../code'
import { type Filled, LANGUAGES } from './languages'

export const Example = ({ filled }: { readonly filled: Filled }) => (
  <details>
    <summary>As code</summary>
    {Object.entries(LANGUAGES).map(([language, write]) => {
      const text = write(filled)
      return text === null ? null : (
        <div key={language} class="flow">
          <h5>{language}</h5>
          <Code text={text} label={`${language}: ${filled.operation.operationId}`} scrolls />
        </div>
      )
    })}
  </details>
)
