import { ObjectType } from 'type-graphql';
import { Access, ofProject } from '../api/access.ts';
import { DomainFaultEnum, DomainStateEnum } from '../api/enums.ts';
import { fields, id, nullable, oneOf, text, time } from '../api/fields.ts';

@Access('project_viewer', ofProject, 'projects:read')
@ObjectType('CustomDomain', {
  description: "A host of the project's own, which serves its issuer and pages once verified.",
})
export class CustomDomainView extends fields({
  id: id(),
  host: text('In ASCII (Punycode) and lower case.'),
  state: oneOf(DomainStateEnum),
  fault: nullable(oneOf(DomainFaultEnum, 'The fault that the last check found.')),
  challenge: text('Value of the TXT record.'),
  createdAt: time(),
  checkedAt: nullable(time()),
  verifiedAt: nullable(time()),
  missingSince: nullable(
    time('Since when checks of a verified domain have not found its record. After three days it fails.'),
  ),
}) {}
