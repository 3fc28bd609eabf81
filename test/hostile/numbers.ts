import { bodies, type Case } from './case'

const id = (text: string): string => `{"id":${text},"name":"a"}`

const notJson = (...texts: readonly string[]): Case[] =>
  bodies(
    texts.map((text) => [`refuses ${text} as an id: it is no number of JSON`, id(text), 40001]),
  )

const notInt64 = (...texts: readonly string[]): Case[] =>
  bodies(texts.map((text) => [`refuses ${text} as an id: it is no int64`, id(text), 40002]))

const exact = (...rows: readonly (readonly [string, bigint])[]): Case[] =>
  bodies(rows.map(([text, value]) => [`keeps the id ${text} as ${value}`, id(text), [value, 'a']]))

const digits = (count: number, digit = '1'): string => digit.repeat(count)

/** Numbers, and the edges of int64. */
export const numbers: readonly Case[] = [
  ...notJson(
    '01',
    '00',
    '-01',
    '+1',
    '.5',
    '5.',
    '-.5',
    '1.e5',
    '1e',
    '1e+',
    '1e5.0',
    '1E-',
    '--1',
  ),
  ...notJson('-', '- 1', '1 0', '1,0', '1_000', '1n', '0x10', '0b1', '0o7', '1f', '1e5e5', '1..0'),
  ...notJson('NaN', 'Infinity', '-Infinity', '-NaN', '1/2', '(1)', '１', '٣', '½', '1\u0000'),
  ...notInt64('9223372036854775808', '-9223372036854775809', '18446744073709551615'),
  ...notInt64('18446744073709551617', '-18446744073709551617', '10000000000000000000', '1e19'),
  ...notInt64(
    '1e308',
    '1e309',
    '-1e309',
    '1e400',
    '1e999999999',
    '9.3e18',
    '9223372036854775807e1',
  ),
  ...notInt64('9.223372036854775808e18', '-9.223372036854775809e18', '0.9223372036854775808e19'),
  ...notInt64('1.5', '-1.5', '0.1', '1e-1', '15e-1', '1e-400', '5e-324', '1e-999999999', '0.1e0'),
  ...notInt64('1.0000000000000000000001', '0.99999999999999999999999', '9007199254740992.5'),
  ...notInt64('9007199254740993.5', '9223372036854775807.5', '4503599627370496.25', '1e-19'),
  ...notInt64(
    '922337203685477580.75e1',
    '1.00000000000000000001e19',
    '-0.1',
    '100000000000000000e2',
  ),
  ...exact(
    ['0', 0n],
    ['-0', 0n],
    ['-0.0', 0n],
    ['0e0', 0n],
    ['0e400', 0n],
    ['0.000e-400', 0n],
    ['-1', -1n],
    ['2.0', 2n],
    ['2e0', 2n],
    ['1e3', 1000n],
    ['1E3', 1000n],
    ['1e+3', 1000n],
    ['1e003', 1000n],
    ['1.50e1', 15n],
    ['20e-1', 2n],
    ['2000000e-6', 2n],
    ['0.000002e6', 2n],
    ['12.34e2', 1234n],
    ['-12.34e2', -1234n],
    ['9007199254740991', 9007199254740991n],
    ['9007199254740992', 9007199254740992n],
    ['9007199254740993', 9007199254740993n],
    ['-9007199254740993', -9007199254740993n],
    ['9007199254740993.0', 9007199254740993n],
    ['900719925474099.3e1', 9007199254740993n],
    ['90071992547409930e-1', 9007199254740993n],
    ['1e18', 1000000000000000000n],
    ['9223372036854775806', 9223372036854775806n],
    ['9223372036854775807', 9223372036854775807n],
    ['9223372036854775807.0', 9223372036854775807n],
    ['9.223372036854775807e18', 9223372036854775807n],
    ['0.9223372036854775807e19', 9223372036854775807n],
    ['-9223372036854775807', -9223372036854775807n],
    ['-9223372036854775808', -9223372036854775808n],
    ['-9.223372036854775808E+18', -9223372036854775808n],
  ),
  ...bodies([
    ['refuses an id of 20,000 digits', id(digits(20_000)), 40002],
    ['refuses an id of 500,000 digits', id(digits(500_000)), 40002],
    ['refuses an id of 500,000 digits with a fraction', id(`${digits(500_000, '9')}.5`), 40002],
    ['refuses an id with 500,000 digits behind the point', id(`1.${digits(500_000)}`), 40002],
    ['refuses an id with zeros and a last digit', id(`1.${digits(500_000, '0')}1`), 40002],
    ['refuses an id whose exponent has 20,000 digits', id(`1e${digits(20_000)}`), 40002],
    ['refuses an id whose exponent has 20,000 digits below', id(`1e-${digits(20_000)}`), 40002],
    ['keeps an id with 500,000 zeros behind the point', id(`7.${digits(500_000, '0')}`), [7, 'a']],
    ['keeps an id of 20,000 zeros taken back', id(`7${digits(20_000, '0')}e-20000`), [7, 'a']],
    [
      'keeps an id that begins far behind the point',
      id(`0.${digits(19_999, '0')}7e20000`),
      [7, 'a'],
    ],
    ['keeps 0 with an exponent of 20,000 digits', id(`0e${digits(20_000, '9')}`), [0, 'a']],
    [
      'keeps 0 with a negative exponent of 20,000 digits',
      id(`-0e-${digits(20_000, '9')}`),
      [0, 'a'],
    ],
    [
      'ignores numbers of unknown fields, however large',
      `{"id":9007199254740993,"name":"a","x":1e999,"y":${digits(20_000)},"z":-1e-999}`,
      [9007199254740993n, 'a'],
    ],
    [
      'ignores ids within unknown fields',
      '{"id":9007199254740993,"name":"a","x":{"id":1e19,"y":[{"id":"5"}]}}',
      [9007199254740993n, 'a'],
    ],
    ['refuses a number that is not JSON in an unknown field', '{"id":10,"name":"a","x":01}', 40001],
    ['refuses NaN in an unknown field', '{"id":10,"name":"a","x":NaN}', 40001],
  ]),
]
