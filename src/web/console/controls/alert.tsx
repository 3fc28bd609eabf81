import { sentenceOf } from '../../sentence.ts'

type AlertProps = {
  /** Nothing is shown while it is missing or empty. */
  readonly text: string | null | undefined
  readonly id?: string
}

/** A refusal, shown and spoken. */
export const Alert = ({ text, id }: AlertProps) =>
  text ? (
    <p class="error" role="alert" id={id}>
      {sentenceOf(text)}
    </p>
  ) : null
