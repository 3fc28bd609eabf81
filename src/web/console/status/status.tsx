import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { plantsOf } from '../counts.ts'
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

const NAMES: Readonly<Record<Health['state'], string>> = {
  unknown: 'Checking…',
  healthy: 'Healthy',
  failing: 'Cannot write',
  silent: 'No response',
}

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

/** Figures and charts for operators. */
function Facts({ monitor }: { readonly monitor: Monitor }) {
  const latest = monitor.latest.value
  const points = monitor.points.value
  const now = points.at(-1)
  const rate = toRate(now?.rate)
  const p99 = toTime(now?.p99)
  const failed = points.reduce((sum, point) => sum + point.failed, 0)
  return (
    <dl>
      {latest?.plants === undefined ? (
        <Fact name="Created since startup">{latest?.created.toLocaleString() ?? '–'}</Fact>
      ) : null}
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
            name={<abbr title="Requests of the last two minutes that failed with 5xx">Errors</abbr>}
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
          <Fact name="Version">{latest.version}</Fact>
        </>
      ) : null}
    </dl>
  )
}

/** One line about the store. Its figures unfold on demand, and when something is wrong. */
export function Status({ monitor }: { readonly monitor: Monitor }) {
  const isWanted = useSignal(false)
  const { state } = monitor.health.value
  const isTrouble = state === 'failing' || state === 'silent'
  const plants = monitor.latest.value?.plants
  return (
    <details
      class={`status ${state}`}
      open={isWanted.value || isTrouble}
      onToggle={({ currentTarget }) => {
        if (!isTrouble) isWanted.value = currentTarget.open
      }}
    >
      <summary>
        <span class="dot" title={NAMES[state]} aria-hidden="true" />
        <span class="visually-hidden">{NAMES[state]}</span>
        {plants === undefined ? null : <b>{plantsOf(plants)}</b>}
        <span class="more-status">Status</span>
      </summary>
      <Facts monitor={monitor} />
    </details>
  )
}
