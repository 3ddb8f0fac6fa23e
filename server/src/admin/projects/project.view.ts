import { ObjectType } from 'type-graphql';
import { projectFields, sessionPolicyFields } from '../../domain/projects/project.resource.ts';
import { Access, itself } from '../api/access.ts';
import { connectionType } from '../api/connection.ts';
import { BuiltInEnum } from '../api/enums.ts';
import { boolean, fields, id, int, list, nullable, oneOf, text, time } from '../api/fields.ts';
import { viewOf } from '../api/resource-types.ts';

@Access('project_viewer', itself, 'projects:read')
@ObjectType('SessionPolicy', { description: 'Lifetimes of sessions and tokens, in seconds.' })
export class SessionPolicyView extends fields({
  ...viewOf(sessionPolicyFields),
}) {}

@Access('project_viewer', itself, 'projects:read')
@ObjectType('Project', { description: 'A tenant: its users, clients, directory and policies.' })
export class ProjectView extends fields({
  id: id(),
  slug: text('Unique; never changes, because applications depend on the issuer.'),
  builtIn: nullable(oneOf(BuiltInEnum, 'Set for projects created at the first start.')),
  ...viewOf(projectFields),
  ...viewOf(sessionPolicyFields),
  version: int('Send it as `expectedVersion` to detect concurrent changes.'),
  createdAt: time(),
  updatedAt: time(),
}) {}

export const ProjectConnection = connectionType(ProjectView, 'Project');

@Access('inherited')
@ObjectType('ProjectContents', { description: 'Numbers of resources that are deleted with a project.' })
export class ProjectContentsView extends fields({
  users: int(),
  clients: int(),
  sessions: int('Active ones; at most 10,000 if `isSessionsLimited`.'),
  isSessionsLimited: boolean('Whether there are more than `sessions`.'),
  scimTokens: int('Active ones.'),
}) {}

@Access('inherited')
@ObjectType('ProjectUsage', {
  description: 'Counts of the users and applications of a project, and its last activity.',
})
export class ProjectUsageView extends fields({
  users: int(),
  clients: int(),
  lastActivityAt: nullable(time('Time of its newest event.')),
}) {}

@Access('inherited')
@ObjectType('PasskeyModelStanding', {
  description:
    'Passkeys that could not be created under a list of models, of the 5,000 active users who signed in last.',
})
export class PasskeyModelStandingView extends fields({
  usersWithOthers: int('Active users with such a passkey. It stays usable until revoked.'),
  usersWithOnlyOthers: int('Active users who have no other passkeys.'),
}) {}

@Access('inherited')
@ObjectType('FactorStanding', {
  description: 'Numbers of active users with each second factor, among the 5,000 who signed in last.',
})
export class FactorStandingView extends fields({
  activeUsers: int(),
  isLimited: boolean('Whether the project has more active users than those counted.'),
  withFactor: int('With at least one second factor that meets the policy, or a passkey that counts.'),
  email: int(),
  sms: int(),
  totp: int(),
  withPasskey: int('With a passkey that has verified them by PIN or biometrics.'),
  sessionsWithoutPasskey: int('Active sessions that were not proved by a passkey.'),
  pagesWithoutPasskeys: list(
    text('Applications with their own sign-in pages, which cannot use passkeys (see `Client.relatedOrigins`).'),
  ),
  canSendSms: boolean('Whether this instance can send SMS.'),
}) {}
