import { Field, ID, InputType, Int } from 'type-graphql';
import type { ApiScope } from '../../domain/apis/api.entity.ts';

@InputType()
class ApiScopeInput implements ApiScope {
  @Field(() => String, { description: 'The value in `scope`; letters, digits and _ . : / * -.' })
  key!: string;

  @Field(() => String, { description: 'One line, for admins and users.' })
  description!: string;
}

@InputType()
export class CreateApiInput {
  @Field(() => ID)
  projectId!: string;

  @Field(() => String, {
    description: 'An absolute URI without a fragment: `resource`, and `aud` of its tokens. It cannot be changed.',
  })
  identifier!: string;

  @Field(() => String)
  name!: string;

  @Field(() => [ApiScopeInput], { description: 'At least one.' })
  scopes!: ApiScopeInput[];

  @Field(() => Int, { nullable: true, description: '60 to 3600 seconds; default: 900.' })
  accessTokenTtlSeconds?: number | null;
}

@InputType({ description: 'Absent fields are unchanged. A scope that is left out is taken from all applications.' })
export class UpdateApiInput {
  @Field(() => ID)
  id!: string;

  @Field(() => String, { nullable: true })
  name?: string | null;

  @Field(() => [ApiScopeInput], { nullable: true })
  scopes?: ApiScopeInput[] | null;

  @Field(() => Int, { nullable: true })
  accessTokenTtlSeconds?: number | null;

  @Field(() => Int, { nullable: true })
  expectedVersion?: number | null;
}

@InputType({
  description: 'Replaces the rights of the application at the API. No scopes and no `introspects`: none.',
})
export class SetApiGrantInput {
  @Field(() => ID)
  clientId!: string;

  @Field(() => ID)
  apiId!: string;

  @Field(() => [String], { description: 'Scopes of the API that its tokens may have.' })
  scopes!: string[];

  @Field(() => Boolean, {
    nullable: true,
    description: 'Whether the application is the API itself, and may introspect its tokens. Default: false.',
  })
  introspects?: boolean | null;
}
