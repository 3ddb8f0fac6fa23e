import {
  deviceProofHeader,
  deviceProofPayload,
  type SigninStep,
  signinFailureSchema,
  signinRequestSchemas,
  signinResponseSchemas,
  signinSteps,
} from '@latchkey/contracts';
import { type ApiPart, json, named, type Operation, schemaOf, secured, statuses } from '../http/openapi/document.ts';
import { signinFailureStatuses } from './signin-error.ts';

const summaries: Record<SigninStep, string> = {
  challenge: 'Begin a sign-in',
  'passkey-options': 'Get options for a passkey',
  'verify-passkey': 'Sign in with a passkey',
  authenticate: 'Identify the user',
  'verify-email-otp': 'Verify the mailed code',
  'verify-device': 'Register the device key',
  'initiate-mfa': 'Start the second factor',
  'verify-mfa': 'Verify the second factor',
  'change-phone-number': 'Send a code to a new phone number',
  'verify-phone-number': 'Verify the new phone number',
  'register-passkey': 'Register a passkey',
};

const camel = (words: string): string => words.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
const pascal = (words: string): string => camel(`-${words}`);

/** The sign-in API of applications' pages (`shared/contracts`). */
export const signinApi = (): Omit<ApiPart, 'paths'> => ({
  tag: {
    name: 'Sign-in',
    description:
      'The steps of a sign-in on a page of an application, as the browser SDK calls them. ' +
      `${deviceProofHeader} is a compact JWS over the request (schema DeviceProof); test vectors are in shared/contracts/vectors.`,
  },
  schemas: {
    ...Object.fromEntries(
      signinSteps.flatMap((step) => [
        [`${pascal(step)}Request`, schemaOf(signinRequestSchemas[step])],
        [`${pascal(step)}Response`, schemaOf(signinResponseSchemas[step])],
      ]),
    ),
    SigninFailure: schemaOf(signinFailureSchema),
    DeviceProof: schemaOf(deviceProofPayload),
  },
});

export function signinOperation(step: SigninStep): Operation {
  return {
    operationId: `signin${pascal(step)}`,
    summary: summaries[step],
    parameters: [
      {
        name: 'Origin',
        in: 'header',
        required: true,
        description: "Set by the browser: an origin of the client's redirect URIs.",
        schema: { type: 'string' },
      },
      ...(step === 'challenge'
        ? []
        : [
            {
              name: deviceProofHeader,
              in: 'header' as const,
              description: 'Device proof. Required if a device key is registered or used.',
              schema: { type: 'string' },
            },
          ]),
    ],
    requestBody: { required: true, content: json(named(`${pascal(step)}Request`)) },
    responses: {
      200: {
        description: 'The next step, or the end of the sign-in.',
        content: json(named(`${pascal(step)}Response`)),
      },
      ...statuses(signinFailureStatuses, {
        description: 'The step was refused; error.code has the reason.',
        headers: {
          'Retry-After': { description: 'Seconds, if a retry can succeed later.', schema: { type: 'integer' } },
        },
        content: json(named('SigninFailure')),
      }),
    },
    security: secured('publishableKey'),
  };
}
