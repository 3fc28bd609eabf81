// The page: the bar with the token, the table of contents, and every operation.
import { useSignal } from '@preact/signals'
import { keptToken } from '../kept-token.ts'
import { type Description, groupsOf } from './description'
import { Inline } from './inline'
import { Models } from './models'
import { Navigation } from './navigation'
import { OperationSection } from './operation'
import { TokenField } from './token'

type Props = { readonly description: Description; readonly source: URL }

export function Page({ description, source }: Props) {
  const base = new URL('.', source)
  const token = useSignal(keptToken(base))
  const { info, components, servers } = description
  const groups = groupsOf(description)
  const schemas = components?.schemas ?? {}
  const server = new URL(servers?.[0]?.url ?? '.', source)
  const [scheme] = Object.values(components?.securitySchemes ?? {})
  return (
    <>
      <a class="skip" href="#content">
        Skip to the reference
      </a>
      <header class="bar">
        <p class="brand">
          <img src="docs/icon.svg" alt="" width="24" height="24" />
          {info.title} <span class="aside">{info.version}</span>
        </p>
        <nav class="pages" aria-label="Pages">
          <a href="./">Console</a>
          <a href={source.href}>openapi.json</a>
        </nav>
        <TokenField token={token} base={base} />
      </header>
      <div class="columns">
        <Navigation groups={groups} schemas={schemas} />
        <main id="content" class="content" tabIndex={-1}>
          <section class="intro flow">
            <h1>API reference</h1>
            {info.description && <p class="lead">{info.description}</p>}
            {scheme?.description && (
              <p>
                Requests carry <code>Authorization: Bearer TOKEN</code>.{' '}
                <Inline text={scheme.description} />
              </p>
            )}
            <p>
              Base URL: <code>{server.href}</code>
            </p>
          </section>
          {groups.map(({ name, description: about, operations }) => (
            <section key={name} class="group" aria-labelledby={`tag-${name}`}>
              <h2 id={`tag-${name}`}>{name}</h2>
              <p class="lead">
                <Inline text={about} />
              </p>
              {operations.map((operation) => (
                <OperationSection
                  key={operation.operationId}
                  operation={operation}
                  schemas={schemas}
                  server={server}
                  token={token}
                />
              ))}
            </section>
          ))}
          <Models schemas={schemas} />
        </main>
      </div>
    </>
  )
}
