// The named schemas.
import type { Schemas } from './description'
import { Fields, Row } from './fields'
import { Inline } from './inline'

type Props = { readonly schemas: Schemas }

export const Models = ({ schemas }: Props) => (
  <section class="models" id="schemas" aria-labelledby="schemas-title">
    <h2 id="schemas-title">Schemas</h2>
    {Object.entries(schemas).map(([name, schema]) => (
      <article key={name} id={`schema-${name}`} class="model flow">
        <h3>{name}</h3>
        {schema.properties ? (
          <>
            {schema.description && (
              <p>
                <Inline text={schema.description} />
              </p>
            )}
            <Fields schema={schema} schemas={schemas} />
          </>
        ) : (
          <dl>
            <Row
              name={name}
              schema={schema}
              isRequired={false}
              description={schema.description ?? ''}
            />
          </dl>
        )}
      </article>
    ))}
  </section>
)
