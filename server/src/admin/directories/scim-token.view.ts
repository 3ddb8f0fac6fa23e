import { ObjectType } from 'type-graphql';
import { Access, ofProject } from '../api/access.ts';
import { boolean, fields, id, int, list, nullable, object, text, time } from '../api/fields.ts';

@Access('project_viewer', ofProject, 'projects:read')
@ObjectType('ScimToken', {
  description: "A directory's bearer token. The token is shown only once, when it is created.",
})
export class ScimTokenView extends fields({
  id: id(),
  name: text(),
  hint: text('The last four characters.'),
  createdAt: time(),
  expiresAt: nullable(time()),
  networks: list(text('Networks that may use it; empty: all.')),
  lastUsedAt: nullable(time('With a resolution of one minute.')),
  lastUsedAddress: nullable(text('The address of the last request.')),
  revokedAt: nullable(time()),
}) {}

@Access('inherited')
@ObjectType({
  description: 'How a directory does. The numbers of requests are those of the kept records: at most 200, of a week.',
})
export class DirectoryHealthView extends fields({
  liveTokens: int('Tokens that are neither revoked nor expired.'),
  lastRequestAt: nullable(time('Of an accepted token, with a resolution of one minute.')),
  lastRefusedAt: nullable(time('Last request that was answered with an error.')),
  requests: int(),
  refused: int('Answered 4xx.'),
  failed: int('Answered 5xx.'),
}) {}

@Access('inherited')
@ObjectType({ description: 'One SCIM request of the self-test.' })
export class DirectoryTestStep extends fields({
  name: text(),
  proves: text('The behavior that it proves if it passes.'),
  passed: boolean(),
  request: text(),
  fault: nullable(text('Expected and actual result.')),
  durationMs: int(),
}) {}

@Access('inherited')
@ObjectType({ description: 'A new SCIM token, shown only once.' })
export class IssuedScimToken extends fields({
  token: text('`lk_scim_…`'),
  scimToken: object(ScimTokenView),
}) {}
