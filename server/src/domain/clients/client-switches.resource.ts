import { flag } from '../kernel/resource.ts';

/** Requirements and permissions of OIDC clients, in the order of their documents; part of `clientFields`. */
export const clientSwitches = {
  pkceRequired: flag({
    ...{ default: false, sensitive: true },
    says: 'Whether sign-ins by the browser SDK require a code_challenge (RFC 7636).',
    input:
      'Whether sign-ins by the browser SDK require a code_challenge. Redirects always do, unless `pkceOptional`. True for a new client with a secret: the same as `pkceOptional: false`.',
    control: {
      section: 'signIn',
      label: {
        en: 'Require PKCE for SDK sign-in',
        de: 'PKCE bei der Anmeldung per SDK verlangen',
        es: 'Exigir PKCE al iniciar sesión con el SDK',
        fr: 'Exiger PKCE pour la connexion par SDK',
        ja: 'SDK サインインで PKCE を必須にする',
      },
      help: {
        en: 'SDK sign-in without a code challenge fails.',
        de: 'Anmeldungen per SDK ohne Code-Challenge scheitern.',
        es: 'Iniciar sesión con el SDK sin code challenge falla.',
        fr: 'La connexion par SDK sans code challenge échoue.',
        ja: 'コードチャレンジのない SDK サインインは失敗します。',
      },
    },
  }),
  pkceOptional: flag({
    ...{ default: false, sensitive: true },
    says: "Whether it may omit PKCE at its project's issuer, if it is confidential.",
    input:
      "Whether a confidential client may omit PKCE at its project's issuer. A challenge that was sent is bound all the same. Without one, the credential and the nonce protect a code. Default: true with a client secret, unless `pkceRequired`; else false.",
  }),
  /** WebAuthn Level 3 section 5.11. */
  relatedOrigins: flag({
    ...{ default: false, sensitive: true, input: 'Default: false.' },
    says: "Whether pages of its redirect URIs' origins can use passkeys (WebAuthn Related Origin Requests).",
    control: {
      section: 'signIn',
      label: {
        en: 'Passkeys on its own pages',
        de: 'Passkeys auf eigenen Seiten',
        es: 'Llaves de acceso en sus propias páginas',
        fr: 'Clés d’accès sur ses propres pages',
        ja: '独自ページでのパスキー',
      },
      help: {
        en: "Pages of this application can use the project's passkeys through the SDK. Its https addresses are then listed publicly at /.well-known/webauthn.",
        de: 'Seiten dieser Anwendung können die Passkeys des Projekts über das SDK nutzen. Ihre https-Adressen stehen dann öffentlich unter /.well-known/webauthn.',
        es: 'Las páginas de esta aplicación pueden usar las llaves de acceso del proyecto con el SDK. Sus direcciones https figuran entonces en público en /.well-known/webauthn.',
        fr: 'Les pages de cette application peuvent utiliser les clés d’accès du projet par le SDK. Ses adresses https sont alors publiques sous /.well-known/webauthn.',
        ja: 'このアプリケーションのページは、SDK でプロジェクトのパスキーを使えます。その https アドレスは /.well-known/webauthn で公開されます。',
      },
    },
  }),
  passkeyRequired: flag({
    ...{ default: false, sensitive: true, input: 'Default: false.' },
    says: "Whether its users must sign in with a passkey, regardless of the project's policy.",
    control: {
      section: 'signIn',
      label: {
        en: 'Require a passkey for this application',
        de: 'Passkey für diese Anwendung verlangen',
        es: 'Exigir una llave de acceso en esta aplicación',
        fr: 'Exiger une clé d’accès pour cette application',
        ja: 'このアプリケーションでパスキーを必須にする',
      },
      help: {
        en: "Every sign-in to it needs a passkey, regardless of the project's policy.",
        de: 'Jede Anmeldung bei ihr braucht einen Passkey, unabhängig von der Richtlinie des Projekts.',
        es: 'Cada inicio de sesión en ella necesita una llave de acceso, sea cual sea la política del proyecto.',
        fr: 'Toute connexion à celle-ci demande une clé d’accès, quelles que soient les règles du projet.',
        ja: 'プロジェクトのポリシーにかかわらず、毎回のサインインにパスキーが必要です。',
      },
    },
  }),
  /** RFC 9449 section 5.2, `dpop_bound_access_tokens`. */
  dpopRequired: flag({
    ...{ default: false, sensitive: true },
    says: 'Whether token requests without a DPoP proof are refused (RFC 9449 section 5.2).',
    control: {
      section: 'dpop',
      label: {
        en: 'Require DPoP',
        de: 'DPoP verlangen',
        es: 'Exigir DPoP',
        fr: 'Exiger DPoP',
        ja: 'DPoP を必須にする',
      },
      help: {
        en: 'Token requests without a proof are refused.',
        de: 'Token-Anfragen ohne Nachweis werden abgelehnt.',
        es: 'Se rechazan las peticiones de tokens sin prueba.',
        fr: 'Les requêtes de jetons sans preuve sont refusées.',
        ja: '証明のないトークンリクエストは拒否されます。',
      },
    },
  }),
  dpopNonceRequired: flag({
    ...{ default: false, sensitive: true },
    says: 'Whether DPoP proofs need a nonce of this server (RFC 9449 section 8).',
    control: {
      section: 'dpop',
      label: {
        en: 'Require nonces',
        de: 'Nonces verlangen',
        es: 'Exigir nonces',
        fr: 'Exiger des nonces',
        ja: 'ノンスを必須にする',
      },
      help: {
        en: 'Proofs need a nonce of this server. The application repeats a request to get one.',
        de: 'Nachweise brauchen eine Nonce dieses Servers. Die Anwendung wiederholt eine Anfrage, um eine zu erhalten.',
        es: 'Las pruebas necesitan un nonce de este servidor. La aplicación repite una petición para obtenerlo.',
        fr: 'Les preuves demandent un nonce de ce serveur. L’application répète une requête pour en obtenir un.',
        ja: '証明にはこのサーバーのノンスが必要です。アプリケーションはリクエストを再送して取得します。',
      },
    },
  }),
  /** RFC 9126 section 6, `require_pushed_authorization_requests`. */
  pushedRequestsRequired: flag({
    ...{ default: false, sensitive: true },
    says: 'Whether it must push its authorization requests (RFC 9126).',
    input: "Whether it must push its authorization requests to its project's issuer (RFC 9126). Default: false.",
    control: {
      section: 'pushedRequests',
      label: {
        en: 'Require pushed requests',
        de: 'Pushed Requests verlangen',
        es: 'Exigir peticiones enviadas (PAR)',
        fr: 'Exiger les requêtes poussées',
        ja: 'プッシュされたリクエストを必須にする',
      },
      help: {
        en: "Sign-ins that the application has not pushed to the project's issuer are refused. The base issuer does not support pushed requests.",
        de: 'Anmeldungen, die die Anwendung nicht beim Issuer des Projekts vorab eingereicht hat, werden abgelehnt. Der Basis-Issuer nimmt keine an.',
        es: 'Se rechazan los inicios de sesión que la aplicación no haya enviado al emisor del proyecto. El emisor base no acepta ninguno.',
        fr: 'Les connexions que l’application n’a pas poussées à l’émetteur du projet sont refusées. L’émetteur de base n’en accepte aucune.',
        ja: 'プロジェクトの発行者にプッシュされていないサインインは拒否されます。基本の発行者は受け付けません。',
      },
    },
  }),
  /** See `fapi.ts`. */
  fapiProfile: flag({
    ...{ default: false, sensitive: true },
    says: 'Whether it must comply with the FAPI 2.0 Security Profile.',
    input:
      'Whether it must comply with the FAPI 2.0 Security Profile: PRIVATE_KEY_JWT, ID tokens with ES256 or EDDSA, https redirect URIs; pushed requests, PKCE and DPoP. Default: false.',
    control: {
      section: 'fapi',
      label: {
        en: 'FAPI 2.0 Security Profile',
        de: 'FAPI 2.0 Security Profile',
        es: 'FAPI 2.0 Security Profile',
        fr: 'FAPI 2.0 Security Profile',
        ja: 'FAPI 2.0 Security Profile',
      },
      help: {
        en: 'Requires DPoP, pushed requests, PKCE, and keys with PS256, ES256 or EdDSA. The base issuer and the SDK stop working.',
        de: 'Verlangt DPoP, Pushed Requests, PKCE und Schlüssel mit PS256, ES256 oder EdDSA. Basis-Issuer und SDK funktionieren dann nicht mehr.',
        es: 'Exige DPoP, peticiones enviadas, PKCE y claves con PS256, ES256 o EdDSA. El emisor base y el SDK dejan de funcionar.',
        fr: 'Exige DPoP, requêtes poussées, PKCE et clés PS256, ES256 ou EdDSA. L’émetteur de base et le SDK ne fonctionnent plus.',
        ja: 'DPoP、プッシュされたリクエスト、PKCE、PS256・ES256・EdDSA の鍵が必須になります。基本の発行者と SDK は使えなくなります。',
      },
    },
  }),
  loginHintChecked: flag({
    ...{ default: true, sensitive: false },
    says: "Whether users sign in again if `login_hint` does not name the signed-in one, at its project's issuer.",
    input:
      "Whether users sign in again if `login_hint` does not name the signed-in one, at its project's issuer; the base issuer ignores it. Default: true.",
    control: {
      section: 'signIn',
      label: {
        en: 'Check login hints',
        de: 'login_hint prüfen',
        es: 'Comprobar login_hint',
        fr: 'Vérifier login_hint',
        ja: 'login_hint を確認する',
      },
      help: {
        en: "At the project's issuer, users sign in again if the application's login_hint is not the signed-in user's.",
        de: 'Am Issuer des Projekts melden sich Benutzer erneut an, wenn login_hint der Anwendung nicht den angemeldeten Benutzer nennt.',
        es: 'En el emisor del proyecto, los usuarios vuelven a iniciar sesión si el login_hint de la aplicación no nombra al usuario conectado.',
        fr: 'À l’émetteur du projet, les utilisateurs se reconnectent si le login_hint de l’application ne désigne pas l’utilisateur connecté.',
        ja: 'プロジェクトの発行者では、アプリケーションの login_hint がサインイン中のユーザーと異なる場合、ユーザーは再度サインインします。',
      },
    },
  }),
  thirdParty: flag({
    ...{ default: false, sensitive: true },
    says: 'Whether users must consent before it gets their data.',
    input: 'Whether users must consent before it gets their data. The browser SDK is refused. Default: false.',
    control: {
      section: 'signIn',
      label: {
        en: 'Third-party application',
        de: 'Drittanbieter-Anwendung',
        es: 'Aplicación de terceros',
        fr: 'Application tierce',
        ja: 'サードパーティアプリケーション',
      },
      help: {
        en: 'Users are asked before it gets their data, on the hosted page. Sign-in through the SDK is refused.',
        de: 'Benutzer werden auf der gehosteten Seite gefragt, bevor sie ihre Daten erhält. Die Anmeldung per SDK wird abgelehnt.',
        es: 'Se pregunta a los usuarios, en la página alojada, antes de darle sus datos. Se rechaza el inicio de sesión con el SDK.',
        fr: 'Les utilisateurs sont consultés, sur la page hébergée, avant qu’elle reçoive leurs données. La connexion par SDK est refusée.',
        ja: 'データを渡す前に、ホスト型ページでユーザーに確認します。SDK でのサインインは拒否されます。',
      },
    },
  }),
  /** For projects with organizations: in others, every sign-in to the client is refused. */
  organizationRequired: flag({
    ...{ default: false, sensitive: true },
    says: 'Whether its users must sign in as members of an organization.',
    input: 'Whether its users must sign in as members of an organization. Default: false.',
    control: {
      section: 'organizations',
      label: {
        en: 'Require an organization',
        de: 'Organisation verlangen',
        es: 'Exigir una organización',
        fr: 'Exiger une organisation',
        ja: '組織を必須にする',
      },
      help: {
        en: 'Only members of an organization can sign in, each as a member of one.',
        de: 'Nur Mitglieder einer Organisation können sich anmelden, jeweils als Mitglied einer bestimmten.',
        es: 'Solo los miembros de una organización pueden iniciar sesión, cada vez como miembros de una.',
        fr: 'Seuls les membres d’une organisation peuvent se connecter, chaque fois comme membres d’une seule.',
        ja: '組織のメンバーだけが、いずれか 1 つの組織のメンバーとしてサインインできます。',
      },
    },
  }),
};
