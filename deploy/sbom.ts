// The bill of materials of an executable, in CycloneDX 1.6 (https://cyclonedx.org/docs/1.6/json/).
import type { Part, Parts } from './parts'

type SbomOptions = {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly license: string
  /** Seconds since 1970. */
  readonly epoch: number
  readonly parts: Parts
}

const licensed = (id: string) => [{ license: { id } }]

const component = ({ name, version, license, purl, sha512 }: Part, type = 'library') => ({
  type,
  'bom-ref': purl,
  name,
  ...(version === undefined ? {} : { version }),
  licenses: licensed(license),
  purl,
  ...(name === 'SQLite' ? { cpe: `cpe:2.3:a:sqlite:sqlite:${version}:*:*:*:*:*:*:*` } : {}),
  ...(sha512 ? { hashes: [{ alg: 'SHA-512', content: sha512 }] } : {}),
})

/** The bill of materials, as the text of a CycloneDX 1.6 JSON document. */
export function makeSbom(options: SbomOptions): string {
  const { name, version, description, license, epoch } = options
  const { platform, natives, packages } = options.parts
  const purl = `pkg:generic/${name}@${version}`
  const refs = (parts: readonly Part[]) => parts.map((part) => part.purl)
  const body = {
    version: 1,
    metadata: {
      timestamp: new Date(epoch * 1000).toISOString(),
      component: {
        type: 'application',
        'bom-ref': purl,
        name,
        version,
        description,
        licenses: licensed(license),
        purl,
      },
    },
    components: [
      component(platform, 'platform'),
      ...[...natives, ...packages].map((part) => component(part)),
    ],
    dependencies: [
      { ref: purl, dependsOn: refs([platform, ...packages]) },
      { ref: platform.purl, dependsOn: refs(natives) },
    ],
  }
  // The same content has the same serial number.
  const hash = new Bun.CryptoHasher('sha256').update(JSON.stringify(body)).digest('hex')
  const uuid = hash.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-8$3-8$4-$5')
  const head = { bomFormat: 'CycloneDX', specVersion: '1.6', serialNumber: `urn:uuid:${uuid}` }
  return `${JSON.stringify({ ...head, ...body }, null, 2)}\n`
}
