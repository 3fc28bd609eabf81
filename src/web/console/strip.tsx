import type { ComponentChildren } from 'preact'
import type { Health, Monitor } from './monitor.ts'
import { Sparkline } from './sparkline.tsx'

const LOW_BYTES = 1e9
const DAY_MS = 86_400_000
const UNITS = [
  ['terabyte', 1e12],
  ['gigabyte', 1e9],
  ['megabyte', 1e6],
] as const

const toRate = (rate: number | null | undefined): string =>
  rate == null ? '–' : rate.toLocaleString(undefined, { maximumFractionDigits: rate < 10 ? 1 : 0 })

function toTime(seconds: number | null | undefined): string {
  if (seconds == null) return '–'
  const milliseconds = seconds * 1000
  return `${milliseconds.toLocaleString(undefined, { maximumSignificantDigits: 2 })} ms`
}

function toSize(bytes: number): string {
  const [unit, size] = UNITS.find(([, size]) => bytes >= size) ?? UNITS[2]
  const options = { style: 'unit', unit, maximumSignificantDigits: 3 } as const
  return (bytes / size).toLocaleString(undefined, options)
}

const toMoment = (at: number): string =>
  Date.now() - at < DAY_MS
    ? new Date(at).toLocaleTimeString(undefined, { timeStyle: 'short' })
    : new Date(at).toLocaleDateString(undefined, { dateStyle: 'medium' })

const nameOf = (health: Health): string => (health.state === 'healthy' ? 'Healthy' : 'Checking…')

type FactProps = {
  readonly name: ComponentChildren
  readonly children: ComponentChildren
  readonly isBad?: boolean
}

const Fact = ({ name, children, isBad = false }: FactProps) => (
  <div>
    <dt>{name}</dt>
    <dd class={isBad ? 'bad' : ''}>{children}</dd>
  </div>
)

/** The state of the store: its health, and what operators ask of it. */
export function Strip({ monitor }: { readonly monitor: Monitor }) {
  const health = monitor.health.value
  const latest = monitor.latest.value
  const points = monitor.points.value
  const now = points.at(-1)
  const rate = toRate(now?.rate)
  const p99 = toTime(now?.p99)
  const failed = points.reduce((sum, point) => sum + point.failed, 0)
  return (
    <section class="strip" aria-label="State of the store">
      <p class={`health ${health.state}`} role="status">
        {/* Otherwise the banner says it. */}
        {health.state === 'healthy' || health.state === 'unknown' ? (
          <>
            <span class="dot" aria-hidden="true" />
            {nameOf(health)}
          </>
        ) : null}
      </p>
      <dl>
        <Fact name={latest?.plants === undefined ? 'Created since startup' : 'Plants'}>
          {(latest?.plants ?? latest?.created)?.toLocaleString() ?? '–'}
        </Fact>
        <Fact name="Creates per second">
          {rate}
          <Sparkline
            label={`Creates per second in the last two minutes; now ${rate}`}
            values={points.map((point) => point.rate)}
          />
        </Fact>
        <Fact
          name={
            <>
              <abbr title="99 % of creates were faster">p99</abbr> of creates
            </>
          }
        >
          {p99}
          <Sparkline
            label={`p99 of creates in the last two minutes; now ${p99}`}
            values={points.map((point) => point.p99)}
          />
        </Fact>
        {latest ? (
          <>
            <Fact name="Queue">{latest.queued?.toLocaleString() ?? '–'}</Fact>
            <Fact
              name={
                <abbr title="Requests of the last two minutes that failed with 5xx">Errors</abbr>
              }
              isBad={failed > 0}
            >
              {failed.toLocaleString()}
            </Fact>
            {latest.freeBytes === undefined ? null : (
              <Fact name="Disk free" isBad={latest.freeBytes < LOW_BYTES}>
                {toSize(latest.freeBytes)}
              </Fact>
            )}
            <Fact name="Up since">
              <time
                dateTime={new Date(latest.startedAt).toISOString()}
                title={new Date(latest.startedAt).toLocaleString()}
              >
                {toMoment(latest.startedAt)}
              </time>
            </Fact>
          </>
        ) : null}
      </dl>
    </section>
  )
}
