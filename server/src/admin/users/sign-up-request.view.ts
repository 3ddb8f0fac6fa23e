import { ObjectType } from 'type-graphql';
import { signUpRequestStates } from '../../domain/signups/sign-up-request.entity.ts';
import { Access, ofProject } from '../api/access.ts';
import { connectionType } from '../api/connection.ts';
import { fields, id, oneOf, text, time } from '../api/fields.ts';
import { enumOf } from '../api/resource-types.ts';

export const SignUpRequestStateEnum = enumOf({
  name: 'SignUpRequestState',
  says: 'Whether an admin has declined the request.',
  values: signUpRequestStates,
});

@Access('project_viewer', ofProject, 'users:read')
@ObjectType('SignUpRequest', {
  description: 'A person who wants to sign up and waits for an admin, in a project with sign-up mode `APPROVAL`.',
})
export class SignUpRequestView extends fields({
  id: id(),
  address: text('As typed; verified by a code.'),
  state: oneOf(SignUpRequestStateEnum),
  createdAt: time(),
  expiresAt: time('Then the request is deleted, and the address may ask again.'),
}) {}

export const SignUpRequestConnection = connectionType(SignUpRequestView, 'SignUpRequest');
