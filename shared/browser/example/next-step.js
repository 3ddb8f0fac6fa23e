// The next step. ask(question, use, codeFormat) passes what the user types to use; only codes have a format.
export async function nextStep(latchkey, step, userid, ask) {
  switch (step.status) {
    case 'OTP_NEEDED':
      await ask(
        `The code sent to ${step.sentTo}`,
        (otp) => latchkey.verifyEmailOtp({ userid, otp }),
        step.codeFormat ?? 'digits',
      );
      return latchkey.verifyDevice({ userid });
    case 'DEVICE_REGISTERED':
      return latchkey.authenticate(userid);
    case 'MFA_ENROLLMENT_NEEDED':
      return ask(`Your second factor: ${step.methods.join(' or ')}`, (mfaMethod) =>
        latchkey.verifyDevice({ userid, mfaMethod }),
      );
    case 'FINALIZE_REGISTRATION_NEEDED':
      return ask('Your phone number, such as +441632960001', (phoneNumber) =>
        latchkey.verifyDevice({ userid, mfaMethod: 'sms', phoneNumber }),
      );
    case 'MFA_REQUIRED': {
      if (step.method === 'passkey') return latchkey.signInWithPasskey({ userid });
      const { totp, codeFormat } = await latchkey.initiateMfa({ userid, sessionId: step.sessionId });
      const question = totp ? `Put ${totp.secret} into your authenticator app. Its code` : `The ${step.method} code`;
      return ask(question, (otp) => latchkey.verifyMfa({ userid, otp }), codeFormat ?? 'digits');
    }
    case 'PASSKEY_ENROLLMENT_NEEDED':
      return latchkey.createPasskey({ userid });
    default: // INVALID_EMAIL
      throw new Error(step.message);
  }
}
