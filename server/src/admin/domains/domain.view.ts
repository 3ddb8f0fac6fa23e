import { GraphQLDateTime } from 'graphql-scalars';
import { Field, ID, ObjectType } from 'type-graphql';
import type { DomainFault, DomainState } from '../../domain/domains/custom-domain.entity.ts';
import { Access, ofProject } from '../api/access.ts';
import { DomainFaultEnum, DomainStateEnum } from '../api/enums.ts';

@Access('project_viewer', ofProject, 'projects:read')
@ObjectType('CustomDomain', {
  description: "A host of the project's own, which serves its issuer and pages once verified.",
})
export class CustomDomainView {
  @Field(() => ID)
  id!: string;

  @Field(() => String, { description: 'In ASCII (Punycode) and lower case.' })
  host!: string;

  @Field(() => DomainStateEnum)
  state!: DomainState;

  @Field(() => DomainFaultEnum, { nullable: true, description: 'The fault that the last check found.' })
  fault!: DomainFault | null;

  @Field(() => String, { description: 'Value of the TXT record.' })
  challenge!: string;

  @Field(() => GraphQLDateTime)
  createdAt!: Date;

  @Field(() => GraphQLDateTime, { nullable: true })
  checkedAt!: Date | null;

  @Field(() => GraphQLDateTime, { nullable: true })
  verifiedAt!: Date | null;

  @Field(() => GraphQLDateTime, {
    nullable: true,
    description: 'Since when checks of a verified domain have not found its record. After three days it fails.',
  })
  missingSince!: Date | null;
}
