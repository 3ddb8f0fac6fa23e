// Written by npm run gen from server/src/domain/*/*.resource.ts. Do not edit.
import { t } from '../language/language.ts';

/** Settings that are shown as switches, by resource and section. */
export const switches = {
  Project: {
    signUp: {
      blocksDisposableMail: {
        label: t("Block disposable addresses"),
        help: t("Mailboxes of known disposable mail services cannot sign up."),
      },
    },
    signUpRequests: {
      signUpMails: {
        label: t("Mail admins about requests"),
        help: t("At most one an hour."),
      },
    },
    accountDeletion: {
      accountDeletion: {
        label: t("Users can delete their account"),
        help: t("On their account page. Except users of an authoritative directory."),
      },
    },
    factors: {
      emailFactor: {
        label: t("Email counts as a second factor"),
        help: t("Off: a mail code does not satisfy Required."),
      },
    },
    organizations: {
      organizationsEnabled: {
        label: t("Organizations"),
        help: t("Group users by customer, each with its own members, roles and rules."),
      },
    },
    impersonation: {
      impersonation: {
        label: t("Allow impersonation"),
        help: t("Admins with the right can use an application as a user, for 15 minutes and with a reason."),
      },
      impersonationNotices: {
        label: t("Mail the user"),
        help: t("A mail with application and reason when an impersonation begins."),
      },
    },
  },
  Client: {
    signIn: {
      pkceRequired: {
        label: t("Require PKCE for SDK sign-in"),
        help: t("SDK sign-in without a code challenge fails."),
      },
      relatedOrigins: {
        label: t("Passkeys on its own pages"),
        help: t("Pages of this application can use the project's passkeys through the SDK. Its https addresses are then listed publicly at /.well-known/webauthn."),
      },
      passkeyRequired: {
        label: t("Require a passkey for this application"),
        help: t("Every sign-in to it needs a passkey, regardless of the project's policy."),
      },
      loginHintChecked: {
        label: t("Check login hints"),
        help: t("At the project's issuer, users sign in again if the application's login_hint is not the signed-in user's."),
      },
      thirdParty: {
        label: t("Third-party application"),
        help: t("Users are asked before it gets their data, on the hosted page. Sign-in through the SDK is refused."),
      },
    },
    dpop: {
      dpopRequired: {
        label: t("Require DPoP"),
        help: t("Token requests without a proof are refused."),
      },
      dpopNonceRequired: {
        label: t("Require nonces"),
        help: t("Proofs need a nonce of this server. The application repeats a request to get one."),
      },
    },
    pushedRequests: {
      pushedRequestsRequired: {
        label: t("Require pushed requests"),
        help: t("Sign-ins that the application has not pushed to the project's issuer are refused. The base issuer does not support pushed requests."),
      },
    },
    fapi: {
      fapiProfile: {
        label: t("FAPI 2.0 Security Profile"),
        help: t("Requires DPoP, pushed requests, PKCE, and keys with PS256, ES256 or EdDSA. The base issuer and the SDK stop working."),
      },
    },
    organizations: {
      organizationRequired: {
        label: t("Require an organization"),
        help: t("Only members of an organization can sign in, each as a member of one."),
      },
    },
    saml: {
      samlRequestsSigned: {
        label: t("Require signed requests"),
        help: t("Sign-in requests without a signature by one of its certificates are refused."),
      },
      samlIdpInitiated: {
        label: t("Allow IdP-initiated sign-in"),
        help: t("Sign-ins can begin at the start address of this server, without a request of the application."),
      },
    },
  },
};
