// The same ids as load/ids.lua: the nth of each order, n below 189,812,507.
const base = 1_000_000_000
const prime = 189812507

export type Order = 'ascending' | 'random'

function shuffle(n: number): number {
  const square = Math.min(n, prime - n) ** 2 % prime
  return n <= prime / 2 ? square : prime - square
}

export function nthId(order: Order, n: number): number {
  return base + (order === 'ascending' ? n : shuffle((shuffle(n) + 76_543_217) % prime))
}
