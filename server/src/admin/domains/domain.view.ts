import { ObjectType } from 'type-graphql';
import { Access, ofProject } from '../api/access.ts';
import { DomainFaultEnum, DomainStateEnum } from '../api/enums.ts';
import { fields, id, nullable, oneOf, text, time } from '../api/fields.ts';

@Access('project_viewer', ofProject, 'projects:read')
@ObjectType('CustomDomain', {
  description: 'A custom domain of a project, which serves its issuer and pages once verified.',
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
  unansweredSince: nullable(
    time('Time since which name servers have not answered for a verified domain, while they answer for others.'),
  ),
  missingSince: nullable(
    time(
      'Time of the first check that did not find the record of a verified domain. After three days, the domain fails.',
    ),
  ),
}) {}
