import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { Time } from '../controls/time.tsx'
import { countChanges, countPlants } from '../counts.ts'
import { type Monitor, type ReadStatus, STATE_NAMES } from './monitor.ts'

type FactProps = {
  readonly name: string
  readonly children: ComponentChildren
  readonly isBad?: boolean
}

const Fact = ({ name, children, isBad = false }: FactProps) => (
  <div>
    <dt>{name}</dt>
    <dd class={isBad ? 'bad' : ''}>{children}</dd>
  </div>
)

/** The facts about the service. */
function Facts({ status }: { readonly status: ReadStatus }) {
  const { database, damaged, lastBackup, changeLog, readAt, uptimeSeconds, version } = status
  return (
    <dl>
      <Fact name="Database" isBad={damaged}>
        {database}
        {damaged ? ' is damaged' : null}
      </Fact>
      <Fact name="Last backup">
        {lastBackup ? <Time at={new Date(lastBackup.at)} /> : 'none scheduled'}
      </Fact>
      <Fact name="Change log">{changeLog ? countChanges(changeLog.entries) : '–'}</Fact>
      <Fact name="Up since">
        <Time at={new Date(performance.timeOrigin + readAt - uptimeSeconds * 1000)} />
      </Fact>
      <Fact name="Version">{version}</Fact>
    </dl>
  )
}

/** A line about the store. Its facts unfold on demand, or if something is wrong. */
export function Status({ monitor }: { readonly monitor: Monitor }) {
  const isUnfolded = useSignal(false)
  const { state } = monitor.health.value
  const isTrouble = state === 'failing' || state === 'silent'
  const latest = monitor.latest.value
  const plants = latest?.plants
  return (
    <details
      class={`status ${state}`}
      open={isUnfolded.value || isTrouble}
      onToggle={({ currentTarget }) => {
        if (!isTrouble) isUnfolded.value = currentTarget.open
      }}
    >
      <summary>
        <span class="dot" title={STATE_NAMES[state]} aria-hidden="true" />
        <span class="visually-hidden">{STATE_NAMES[state]}</span>
        {plants == null ? null : <b>{countPlants(plants)}</b>}
        <span class="more-status">Status</span>
      </summary>
      {latest ? <Facts status={latest} /> : null}
    </details>
  )
}
