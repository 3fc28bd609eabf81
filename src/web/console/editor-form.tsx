import { useLayoutEffect, useRef } from 'preact/hooks'
import type { Editor } from './editor.ts'
import { Field } from './field.tsx'
import { Modal } from './modal.tsx'

/** The plant as someone else saved it while the form was open. */
function Conflict({ editor }: { readonly editor: Editor }) {
  const box = useRef<HTMLDivElement>(null)
  const theirs = editor.conflict.value?.plant
  // The Save button that had the focus is gone.
  useLayoutEffect(() => box.current?.focus(), [theirs])
  if (!theirs) return null
  return (
    <div class="conflict" role="alert" ref={box} tabIndex={-1}>
      <p>
        <strong>This plant was changed after you opened it.</strong> It is now:
      </p>
      <dl>
        <dt>Name</dt>
        <dd>
          <bdi>{theirs.name}</bdi>
        </dd>
        <dt>Tag</dt>
        <dd>{theirs.tag === undefined ? <i>none</i> : <bdi>{theirs.tag}</bdi>}</dd>
      </dl>
      <div class="actions">
        <button type="button" onClick={() => editor.resolve('mine')}>
          Save mine
        </button>
        <button type="button" onClick={() => editor.resolve('theirs')}>
          Use theirs
        </button>
      </div>
    </div>
  )
}

/** A dialog that adds or edits a plant. */
export function EditorForm({ editor }: { readonly editor: Editor }) {
  const { stored, id, name, tag, isSaving } = editor
  const errors = editor.errors.value
  const plant = stored.value?.plant
  const title = plant ? `Edit plant ${plant.id}` : 'Add a plant'
  return (
    <Modal label={title} onEscape={editor.close}>
      <h2>{title}</h2>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          void editor.save()
        }}
      >
        {plant ? null : (
          <Field
            label="ID"
            name="id"
            text={id}
            error={errors.id}
            hint="A whole number, unique to this plant."
            isFirst
          />
        )}
        {plant && errors.id ? (
          <p class="error" role="alert">
            {errors.id}
          </p>
        ) : null}
        <Field
          label="Name"
          name="name"
          text={name}
          error={errors.name}
          isLong
          isFirst={plant !== undefined}
        />
        <Field
          label="Tag"
          name="tag"
          text={tag}
          error={errors.tag}
          hint="Leave empty for no tag."
          isLong
        />
        {errors.form ? (
          <p class="error" role="alert">
            {errors.form}
          </p>
        ) : null}
        <Conflict editor={editor} />
        <div class="actions">
          {editor.conflict.value ? null : (
            <button type="submit" class="primary" aria-disabled={isSaving.value}>
              {plant ? 'Save' : 'Add'}
            </button>
          )}
          <button type="button" onClick={editor.close}>
            Cancel
          </button>
        </div>
      </form>
    </Modal>
  )
}
