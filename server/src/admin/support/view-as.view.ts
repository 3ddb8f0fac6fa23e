import { ObjectType } from 'type-graphql';
import { Access } from '../api/access.ts';
import { DenialEnum, ForeseenStepEnum, MfaMethodEnum, StepReasonEnum } from '../api/enums.ts';
import { boolean, fields, id, list, nullable, object, oneOf, text } from '../api/fields.ts';

@Access('inherited')
@ObjectType('ExpectedStep', { description: 'A step that a sign-in would require.' })
class ExpectedStepView extends fields({
  kind: oneOf(ForeseenStepEnum),
  reason: oneOf(StepReasonEnum, 'Reason why it is required.'),
  methods: list(oneOf(MfaMethodEnum, 'Of a second factor: the enrolled one, or those that can be enrolled.')),
}) {}

@Access('inherited')
@ObjectType('ExpectedSignIn', { description: 'A sign-in in a new browser, or in one that is trusted.' })
class ExpectedSignInView extends fields({
  deviceId: nullable(id('The trusted device; absent: a new browser.')),
  deviceName: nullable(text()),
  steps: list(object(ExpectedStepView, 'In order.')),
  denied: nullable(oneOf(DenialEnum, 'Reason why it would fail; absent: it would succeed.')),
}) {}

@Access('inherited')
@ObjectType('ViewAs', { description: 'A preview of a sign-in to an application now. Creates no session.' })
export class ViewAsView extends fields({
  signIns: list(object(ExpectedSignInView, 'A new browser first; then the trusted one used last, if any.')),
  takesPasskey: boolean('Whether a passkey of the user signs in instead of these steps.'),
  asksConsent: boolean('Whether the user would be asked to allow the access.'),
}) {}
