import { expect, test } from 'bun:test'
import { invocation, type Surroundings } from '../../src/daemon/invocation'

const compiled: Surroundings = {
  program: ['/srv/my plants/plantstore'],
  uid: 1000,
  users: [
    'root:x:0:0:root:/root:/bin/bash',
    'plantstore:x:998:998::/var/lib/plantstore:/usr/sbin/nologin',
    'rose:x:1000:1000:Rose:/home/rose:/bin/bash',
  ],
}
const installed: Surroundings = { ...compiled, program: ['/usr/bin/plantstore'] }

test('an executable in a folder is named by its path', () => {
  expect(invocation(compiled)).toBe("'/srv/my plants/plantstore'")
})

test('in a clone, the command names Bun and the program', () => {
  const clone = { ...compiled, program: ['/opt/bun', '/home/rose/plantstore/src/main.ts'] }
  expect(invocation(clone)).toBe('/opt/bun /home/rose/plantstore/src/main.ts')
})

test('an installed program is named as the PATH has it', () => {
  expect(invocation(installed)).toBe('plantstore')
})

test('another user without a login shell, as in the image, is not told to use sudo', () => {
  const users = ['nonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin']
  expect(invocation({ ...installed, uid: 65532, users })).toBe('plantstore')
})

test('the service of the Debian package is reached by sudo, which hands the secret on', () => {
  const service = { ...installed, uid: 998 }
  expect(invocation(service)).toBe('sudo -u plantstore plantstore')
  expect(invocation(service, 'PASSWORD=x')).toBe('sudo -u plantstore PASSWORD=x plantstore')
})
