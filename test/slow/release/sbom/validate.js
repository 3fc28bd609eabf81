// Validates the CycloneDX 1.6 JSON of standard input with CycloneDX's own library; prints what is wrong.
import { Spec, Validation } from '@cyclonedx/cyclonedx-library'

const validator = new Validation.JsonStrictValidator(Spec.Version.v1dot6)
const problem = await validator.validate(await Bun.stdin.text())
if (problem !== null) console.log(JSON.stringify(problem, null, 2))
