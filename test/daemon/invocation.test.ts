import { expect, test } from 'bun:test'
import { invocation, type Surroundings } from '../../src/daemon/invocation'

const compiled: Surroundings = {
  program: ['/srv/my plants/plantstore'],
  host: '3f2a9c0d1e4b',
  uid: 1000,
  users: [
    'root:x:0:0:root:/root:/bin/bash',
    'plantstore:x:998:998::/var/lib/plantstore:/usr/sbin/nologin',
    'rose:x:1000:1000:Rose:/home/rose:/bin/bash',
  ],
  exists: () => false,
}
const installed: Surroundings = { ...compiled, program: ['/usr/bin/plantstore'] }

test('an executable in a folder is named by its path', () => {
  expect(invocation(compiled)).toBe("'/srv/my plants/plantstore'")
})

test('in a clone, the command names Bun and the program', () => {
  const clone = { ...compiled, program: ['/opt/bun', '/home/rose/plantstore/src/main.ts'] }
  expect(invocation(clone)).toBe('/opt/bun /home/rose/plantstore/src/main.ts')
})

test('in a clone, the Bun of npx is named as npx starts it', () => {
  const bun = '/home/rose/.npm/_npx/8666902f26f2dc1a/node_modules/bun/bin/bun.exe'
  const clone = { ...compiled, program: [bun, '/home/rose/plantstore/src/main.ts'] }
  expect(invocation(clone)).toBe(`npx --yes bun@${Bun.version} /home/rose/plantstore/src/main.ts`)
})

test('an installed program is named as the PATH has it', () => {
  expect(invocation(installed)).toBe('plantstore')
})

test('a service whose user cannot log in is reached by sudo, which hands the secret on', () => {
  const service = { ...installed, uid: 998 }
  expect(invocation(service)).toBe('sudo -u plantstore plantstore')
  expect(invocation(service, 'PASSWORD=x')).toBe('sudo -u plantstore PASSWORD=x plantstore')
})

test.each([
  ['/.dockerenv', 'docker exec 3f2a9c0d1e4b plantstore'],
  ['/run/.containerenv', 'podman exec 3f2a9c0d1e4b plantstore'],
  ['/var/run/secrets/kubernetes.io', 'kubectl exec 3f2a9c0d1e4b -- plantstore'],
])(
  "in a container marked by %s, its engine runs the command, with the container's environment",
  (mark, line) => {
    const inside = { ...installed, exists: (path: string) => path === mark }
    expect(invocation(inside, 'PASSWORD=x')).toBe(line)
  },
)

test('a clone in a container is run where it lies, not from outside', () => {
  const inside = { ...compiled, exists: () => true }
  expect(invocation(inside)).toBe("'/srv/my plants/plantstore'")
})
