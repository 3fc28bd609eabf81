import { describe, expect, test } from 'bun:test'
import { OpenError } from '../src/errors'
import { safeMessage } from '../src/redaction'

describe('a message of the runtime or of a server', () => {
  const messages: [message: string, shown: string][] = [
    ['Odd fetching "http://h:1/a?b=c". More', 'Odd fetching "http://h:1". More'],
    ['"https://u:p@h/x" and http://u@h2/y failed', '"https://h" and http://h2 failed'],
    ['postgres://u:p@[h/x is bad', 'postgres://… is bad'],
    ['the PassSecret of http://h/PassSecret', 'the … of http://h'],
    ['two\nlines\u001b[31m', 'two lines [31m'],
    ['nothing to hide', 'nothing to hide'],
  ]

  test.each(messages)('%j is shown as %j', (message, shown) => {
    expect(safeMessage(new Error(message), 'PassSecret')).toBe(shown)
  })

  test('is shown unchanged if the secret is too short to be one', () => {
    expect(safeMessage(new Error('nothing to hide'), 'to')).toBe('nothing to hide')
  })
})

test('a message of the program itself is shown unchanged', () => {
  const message = 'use https://plants.example.org/garden'
  expect(safeMessage(new OpenError(message), 'garden')).toBe(message)
})
