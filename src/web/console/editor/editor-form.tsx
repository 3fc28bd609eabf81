import { Fragment } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { Alert } from '../controls/alert.tsx'
import { Field } from '../controls/field.tsx'
import { fieldInUse, invalidField } from '../controls/focus.ts'
import { TextValue } from '../controls/text-value.tsx'
import { labelOf, TEXTS } from '../texts.ts'
import type { Editor } from './editor.ts'
import type { PlantForm } from './plant-form.ts'

const DELETED_NOTICE = 'This plant was deleted elsewhere. Copy what you typed, if you need it.'

type FormProps = { readonly editor: Editor; readonly form: PlantForm }

/** The plant as someone else saved it while the form was open. */
function Conflict({ editor, form }: FormProps) {
  const box = useRef<HTMLDivElement>(null)
  const conflict = form.conflict.value
  useLayoutEffect(() => {
    // The Save button that had the focus is gone; a field keeps it.
    if (!fieldInUse(null)) box.current?.focus()
  }, [conflict])
  if (!conflict) return null
  const { plant: theirs, fields } = conflict
  return (
    <div class="conflict" role="alert" ref={box} tabIndex={-1}>
      <p>
        <strong>Someone else changed the {fields.join(' and the ')} too.</strong> It is now:
      </p>
      <dl>
        {fields.map((text) => (
          <Fragment key={text}>
            <dt>{labelOf(text)}</dt>
            <dd>
              <TextValue text={theirs[text]} />
            </dd>
          </Fragment>
        ))}
      </dl>
      <div class="actions">
        <button type="button" onClick={() => editor.save()}>
          Save mine
        </button>
        <button type="button" onClick={() => form.useTheirs()}>
          Use theirs
        </button>
      </div>
    </div>
  )
}

/** Asks to discard the typed text, before another step. */
function Leaving({ editor }: { readonly editor: Editor }) {
  const box = useRef<HTMLDivElement>(null)
  const then = editor.stepAfterDiscard.value
  useLayoutEffect(() => box.current?.querySelector('button')?.focus(), [then])
  if (!then) return null
  return (
    <div class="conflict" role="alert" ref={box}>
      <p>Discard what you typed?</p>
      <div class="actions">
        <button
          type="button"
          onClick={() => {
            editor.stepAfterDiscard.value = null
          }}
        >
          Keep editing
        </button>
        <button type="button" class="danger" onClick={then}>
          Discard
        </button>
      </div>
    </div>
  )
}

/** The id of a new plant: the next free one, unless another is typed. */
function IdField({ editor, form }: FormProps) {
  const { draft, errors } = form
  useLayoutEffect(() => {
    const field = document.activeElement
    // Typing replaces a proposal that arrives where the keyboard is.
    if (field instanceof HTMLInputElement && field.id === 'id') {
      if (field.value === draft.proposedId.value) field.select()
    }
  }, [draft.proposedId.value])
  const hint =
    draft.proposedId.value === null
      ? 'The largest number is taken. Type any whole number that is free.'
      : 'A whole number. The next free one is filled in; any other that is free will do.'
  return (
    <>
      <Field
        label="ID"
        name="id"
        text={draft.id}
        error={errors.value.id}
        attempt={errors.value}
        hint={hint}
      />
      {errors.value.id && draft.proposedId.value !== null ? (
        <button
          type="button"
          onClick={() => {
            form.useFreeId(editor.saves.pendingIds())
            // The button disappears.
            document.getElementById('id')?.focus()
          }}
        >
          Use a free ID
        </button>
      ) : null}
    </>
  )
}

const TAG_HINT = 'The kind of plant, such as fern. Leave empty for none.'

/** The fields of a plant. */
export function EditorForm({ editor, form }: FormProps) {
  const { texts } = form.draft
  const errors = form.errors.value
  const problem = form.isDeleted.value ? DELETED_NOTICE : errors.form
  const plant = form.storedVersion.value?.plant
  const box = useRef<HTMLFormElement>(null)
  useLayoutEffect(() => {
    // Before the panel is shown, WebKit would take no focus from then on.
    if (box.current?.checkVisibility() && !fieldInUse(box.current))
      invalidField(box.current)?.focus()
  }, [errors])
  return (
    <form
      ref={box}
      onSubmit={(event) => {
        event.preventDefault()
        // Enter does not answer a question that may be unseen: it leads there.
        if (!form.conflict.value) editor.save()
        else box.current?.querySelector<HTMLElement>('.conflict')?.focus()
      }}
    >
      {plant ? <Alert text={errors.id} /> : null}
      {TEXTS.map((text) => (
        <Field
          key={text}
          label={labelOf(text)}
          name={text}
          text={texts[text]}
          error={errors[text]}
          attempt={errors}
          // A single-line field would drop line breaks.
          isLong={text === 'name' || /[\r\n]/.test(`${plant?.[text]}${texts[text].value}`)}
          {...(text === 'tag' ? { hint: TAG_HINT, tags: editor.list.tags } : {})}
        />
      ))}
      {plant ? null : <IdField editor={editor} form={form} />}
      <Alert text={problem} attempt={errors} />
      <Conflict editor={editor} form={form} />
      <Leaving editor={editor} />
      <div class="actions">
        {form.conflict.value ? null : (
          <button type="submit" class="primary">
            {plant ? 'Save' : 'Add'}
          </button>
        )}
        {plant ? null : (
          <button type="button" onClick={editor.addAnother}>
            Add and add another
          </button>
        )}
        <button type="button" onClick={editor.cancel}>
          Cancel
        </button>
      </div>
    </form>
  )
}
