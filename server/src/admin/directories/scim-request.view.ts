import { Field, ObjectType } from 'type-graphql';
import { Access, ofProject } from '../api/access.ts';
import { connectionType } from '../api/connection.ts';
import { fields, id, int, nullable, text, time } from '../api/fields.ts';

@Access('project_viewer', ofProject, 'projects:read')
@ObjectType('ScimRequest', {
  description: 'A SCIM request and its response, without secrets. Fields that name users need `users:read`.',
})
export class ScimRequestView extends fields({
  id: id(),
  at: time(),
  tokenName: text('Name of the token at that time.'),
  method: text(),
  status: int(),
  scimType: nullable(text('RFC 7644 §3.12.')),
  durationMs: int(),
  userAgent: nullable(text()),
}) {
  @Access('project_viewer', ofProject, 'users:read')
  @Field(() => [String], {
    nullable: true,
    description: 'Attributes of an accepted change that no schema has; their values were dropped. At most 100.',
  })
  ignored!: string[] | null;

  @Access('project_viewer', ofProject, 'users:read')
  @Field(() => String, { description: "Below the project's base URL, with the query." })
  path!: string;

  @Access('project_viewer', ofProject, 'users:read')
  @Field(() => String, { nullable: true, description: 'Reason of a refusal.' })
  detail!: string | null;

  @Access('project_viewer', ofProject, 'users:read')
  @Field(() => String, { nullable: true, description: 'Truncated if long.' })
  requestBody!: string | null;

  @Access('project_viewer', ofProject, 'users:read')
  @Field(() => String, { nullable: true, description: 'Truncated if long; only totals of lists.' })
  responseBody!: string | null;
}

export const ScimRequestConnection = connectionType(ScimRequestView, 'ScimRequest', false);
