import type { Health, Monitor } from './monitor.ts'
import { Sparkline } from './sparkline.tsx'

const HEALTH = {
  unknown: 'Checking…',
  healthy: 'Healthy',
  failing: 'Cannot write',
  silent: 'No response, retrying…',
} as const satisfies Record<Health['state'], string>

const toRate = (rate: number | null | undefined): string =>
  rate == null ? '–' : rate.toLocaleString(undefined, { maximumFractionDigits: rate < 10 ? 1 : 0 })

function toTime(seconds: number | null | undefined): string {
  if (seconds == null) return '–'
  const milliseconds = seconds * 1000
  return `${milliseconds.toLocaleString(undefined, { maximumSignificantDigits: 2 })} ms`
}

/** The state of the store: its health, and the number and latency of creates. */
export function Strip({ monitor }: { readonly monitor: Monitor }) {
  const health = monitor.health.value
  const latest = monitor.latest.value
  const points = monitor.points.value
  const now = points.at(-1)
  const rate = toRate(now?.rate)
  const p99 = toTime(now?.p99)
  return (
    <section class="strip" aria-label="State of the store">
      <p class={`health ${health.state}`} role="status">
        <span class="dot" aria-hidden="true" />
        <span>
          {HEALTH[health.state]}
          {health.state === 'failing' ? <span class="why">: {health.message}</span> : null}
        </span>
      </p>
      <dl>
        <div>
          <dt>{latest?.plants === undefined ? 'Created since startup' : 'Plants'}</dt>
          <dd>{(latest?.plants ?? latest?.created)?.toLocaleString() ?? '–'}</dd>
        </div>
        <div>
          <dt>Creates per second</dt>
          <dd>
            {rate}
            <Sparkline
              label={`Creates per second in the last two minutes; now ${rate}`}
              values={points.map((point) => point.rate)}
            />
          </dd>
        </div>
        <div>
          <dt>
            <abbr title="99 % of creates were faster">p99</abbr> of creates
          </dt>
          <dd>
            {p99}
            <Sparkline
              label={`p99 of creates in the last two minutes; now ${p99}`}
              values={points.map((point) => point.p99)}
            />
          </dd>
        </div>
      </dl>
    </section>
  )
}
