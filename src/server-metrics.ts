// The metrics of a store that is kept in a database server.

import type { ServerStats } from './store'

/** A counter in the Prometheus text format: its name, its help and its samples. */
type Family = readonly [name: string, help: string, samples: string[]]

const single = (name: string, help: string, value: number): Family => [
  name,
  help,
  [`${name} ${value}`],
]

export function serverFamilies(stats: ServerStats): readonly Family[] {
  const inDoubt = 'plantstore_commits_in_doubt_total'
  return [
    single(
      'plantstore_commit_retries_total',
      'Commits sent again because others had written the same plants.',
      stats.retries,
    ),
    [
      inDoubt,
      'Commits whose answer was lost, by whether they were found to be made.',
      [
        `${inDoubt}{made="true"} ${stats.inDoubtMade}`,
        `${inDoubt}{made="false"} ${stats.inDoubtNotMade}`,
      ],
    ],
    single(
      'plantstore_server_reconnects_total',
      'Times that a lost database server was found again.',
      stats.reconnects,
    ),
    single(
      'plantstore_server_failovers_total',
      'Times that another database server took over.',
      stats.failovers,
    ),
    single(
      'plantstore_acknowledged_commits_lost_total',
      'Acknowledged commits that the database server has lost.',
      stats.lostCommits,
    ),
  ]
}
