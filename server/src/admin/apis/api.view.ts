import { GraphQLDateTime } from 'graphql-scalars';
import { Field, ID, Int, ObjectType } from 'type-graphql';
import { Access, ofProject } from '../api/access.ts';

@Access('inherited')
@ObjectType('ApiScope', { description: 'A scope of tokens for an API.' })
export class ApiScopeView {
  @Field(() => String)
  key!: string;

  @Field(() => String)
  description!: string;
}

@Access('project_viewer', ofProject, 'clients:read')
@ObjectType('Api', { description: "An API of a project, for which the project's issuer gives access tokens." })
export class ApiView {
  @Field(() => ID)
  id!: string;

  @Field(() => String, { description: '`resource` in requests, and `aud` of its tokens.' })
  identifier!: string;

  @Field(() => String)
  name!: string;

  @Field(() => [ApiScopeView])
  scopes!: ApiScopeView[];

  @Field(() => Int)
  accessTokenTtlSeconds!: number;

  @Field(() => Int, { description: 'Send it as `expectedVersion` to detect concurrent changes.' })
  version!: number;

  @Field(() => GraphQLDateTime)
  createdAt!: Date;

  @Field(() => GraphQLDateTime)
  updatedAt!: Date;
}

@Access('project_viewer', ofProject, 'clients:read')
@ObjectType('ApiGrant', { description: 'The rights of an application at an API.' })
export class ApiGrantView {
  @Field(() => [String], { description: 'Scopes that its tokens may have; empty: it gets no tokens for the API.' })
  scopes!: string[];

  @Field(() => Boolean, { description: 'Whether it is the API itself, and may introspect its tokens.' })
  introspects!: boolean;

  @Field(() => GraphQLDateTime)
  createdAt!: Date;

  @Field(() => GraphQLDateTime)
  updatedAt!: Date;
}
