// Says whether the description on standard input is valid OpenAPI: a process of its own, so that it finds packages
// that were installed a moment ago.
import { Validator } from '@seriousme/openapi-schema-validator'

console.log(JSON.stringify(await new Validator().validate(await Bun.stdin.json())))
