import { sentenceOf } from '../../sentence.ts'

type AlertProps = {
  /** Nothing is shown while it is missing or empty. */
  readonly text: string | null | undefined
  readonly id?: string
  /** Another object with each refusal, so that the same sentence is spoken again. */
  readonly attempt?: object | undefined
}

/** A refusal, shown and spoken. */
export const Alert = ({ text, id, attempt }: AlertProps) =>
  text ? (
    <p key={attempt ?? text} class="error" role="alert" id={id}>
      {sentenceOf(text)}
    </p>
  ) : null
