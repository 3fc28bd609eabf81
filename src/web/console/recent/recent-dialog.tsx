// The dialog of recent changes. It is loaded when it is first opened.

import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import type { NewPlant } from '../../../client/client.ts'
import { sentenceOf } from '../../sentence.ts'
import type { PlantList } from '../list/plant-list.ts'
import { NOT_LOADED } from '../not-loaded.ts'
import type { Session } from '../session.ts'
import type { Acts } from '../undo/acts.ts'

const load = () => import('./recent-panel.tsx').catch(() => null)

export class RecentDialog {
  /** null: it is closed. */
  readonly panel = signal<ComponentChildren>(null)

  constructor(
    readonly session: Session,
    readonly list: PlantList,
    readonly acts: Acts,
    readonly announce: (text: string) => void,
  ) {}

  async open(onOpen: (plant: Pick<NewPlant, 'id'>) => void): Promise<void> {
    const code = await load()
    if (!code) return this.announce(sentenceOf(NOT_LOADED))
    // The user may have disconnected meanwhile.
    if (!this.session.hasSession.value) return
    const { RecentPanel } = code
    this.panel.value = (
      <RecentPanel
        session={this.session}
        list={this.list}
        acts={this.acts}
        onOpen={onOpen}
        onClose={this.close}
      />
    )
  }

  readonly close = (): void => {
    this.panel.value = null
  }
}
