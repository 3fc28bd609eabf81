/** The logo. */
export const Leaf = () => (
  <svg class="leaf" viewBox="0 0 32 32" aria-hidden="true">
    <path d="M27 4C14 4 6 9 6 18c0 2 .5 3.700 1.300 5C10 17 15 13 21 11c-6 4-10.500 9-13 17l2 .6c.7-2 1.300-3.600 2-5C23 25 28 17 27 4Z" />
  </svg>
)
