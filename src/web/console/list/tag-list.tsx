import { useSignal } from '@preact/signals'
import { Menu } from '../controls/menu.tsx'
import type { PlantList } from './plant-list.ts'

const ID = 'tag-list'
const MAX_TAGS = 100

/** The tags with the number of plants that have each, the most used first. */
function Tags({ list }: { readonly list: PlantList }) {
  list.rows.version.value
  const { counts, plants, isPart } = list.tags.all()
  const all = [...counts].sort(([a, many], [b, more]) => more - many || (a < b ? -1 : 1))
  const { tag } = list.query.value
  return (
    <>
      {all.length === 0 && !isPart ? <p>No plant has a tag yet.</p> : null}
      <ul aria-label="Tags">
        {all.slice(0, MAX_TAGS).map(([name, count]) => (
          <li key={name}>
            <button
              type="button"
              class="quiet"
              aria-pressed={name === tag}
              onClick={() => {
                document.getElementById(ID)?.hidePopover()
                void list.show({ tag: name })
              }}
            >
              <bdi>{name}</bdi> <small>{count.toLocaleString()}</small>
            </button>
          </li>
        ))}
      </ul>
      {all.length > MAX_TAGS ? <p>Type tag:NAME in the search box to find any other.</p> : null}
      {isPart ? (
        <p role="status">
          {list.reader.isReadingAll.value
            ? 'Counting…'
            : `Counted among ${plants.toLocaleString()} plants, not all of them.`}
        </p>
      ) : null}
    </>
  )
}

/** A menu of tags to search for. */
export function TagList({ list }: { readonly list: PlantList }) {
  const isShown = useSignal(false)
  return (
    <Menu
      id={ID}
      label="Tags"
      onToggle={(isNow) => {
        isShown.value = isNow
        if (isNow) void list.readTags()
      }}
    >
      {isShown.value ? <Tags list={list} /> : null}
    </Menu>
  )
}
