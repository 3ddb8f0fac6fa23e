import { Field, ID, ObjectType } from 'type-graphql';
import type { MfaMethod } from '../../domain/mfa/enrolment.entity.ts';
import type { Denial, StepReason } from '../../domain/support/view-as.ts';
import { Access } from '../api/access.ts';
import { DenialEnum, ForeseenStepEnum, MfaMethodEnum, StepReasonEnum } from '../api/enums.ts';

@Access('inherited')
@ObjectType('ExpectedStep', { description: 'A step that a sign-in would require.' })
class ExpectedStepView {
  @Field(() => ForeseenStepEnum)
  kind!: string;

  @Field(() => StepReasonEnum, { description: 'Why it is required.' })
  reason!: StepReason;

  @Field(() => [MfaMethodEnum], { description: 'Of a second factor: the enrolled one, or those that can be enrolled.' })
  methods!: readonly MfaMethod[];
}

@Access('inherited')
@ObjectType('ExpectedSignIn', { description: 'A sign-in in a new browser, or in one that is trusted.' })
class ExpectedSignInView {
  @Field(() => ID, { nullable: true, description: 'The trusted device; absent: a new browser.' })
  deviceId!: string | null;

  @Field(() => String, { nullable: true })
  deviceName!: string | null;

  @Field(() => [ExpectedStepView], { description: 'In order.' })
  steps!: ExpectedStepView[];

  @Field(() => DenialEnum, { nullable: true, description: 'Why it would fail; absent: it would succeed.' })
  denied!: Denial | null;
}

@Access('inherited')
@ObjectType('ViewAs', { description: 'A preview of a sign-in to an application now. Creates no session.' })
export class ViewAsView {
  @Field(() => [ExpectedSignInView], { description: 'A new browser first; then the trusted one used last, if any.' })
  signIns!: ExpectedSignInView[];

  @Field(() => Boolean, { description: 'Whether a passkey of the user signs in instead of these steps.' })
  takesPasskey!: boolean;

  @Field(() => Boolean, { description: 'Whether the user would be asked to allow the access.' })
  asksConsent!: boolean;
}
