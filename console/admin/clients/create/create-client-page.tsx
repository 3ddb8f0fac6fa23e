import { Alert, Box, Button, Group, NativeSelect, Switch, TextInput, ThemeIcon } from '@mantine/core';
import { type FormEvent, lazy, type ReactNode, Suspense, useEffect, useRef, useState } from 'react';
import { useNavigate, useSearchParams } from 'react-router';
import { useAccess } from '../../access.tsx';
import { useMutation } from '../../api.ts';
import { type Failure, faultAt } from '../../failure.ts';
import { CreateClient, type CreateClientInput, type IdTokenAlgorithm } from '../../generated/operations.ts';
import { t } from '../../language/language.ts';
import { useProject, useProjectPath } from '../../projects/project.tsx';
import { SecondaryButton } from '../../ui/buttons.tsx';
import { ShowGraphql } from '../../ui/code/show-graphql.tsx';
import { FormError } from '../../ui/feedback/errors.tsx';
import { LinesSkeleton } from '../../ui/feedback/skeleton.tsx';
import { toast } from '../../ui/feedback/toast.tsx';
import { tidy } from '../../ui/forms/list-field.tsx';
import { optionsOf } from '../../ui/forms/options.ts';
import { Radios } from '../../ui/forms/radios.tsx';
import { Page, Section } from '../../ui/layout/page.tsx';
import { algorithmNames } from '../algorithm-names.ts';
import { developmentReturns, developmentUris } from '../development.ts';
import { isKind, storedKinds } from '../kind.ts';
import { addressFault } from '../redirect-fault.ts';
import { PostLogoutUris, RedirectUris } from '../redirect-uris.tsx';
import { type Answers, answersOf, type StepProps, secretDefaults, typeIn, typeOf } from './answers.ts';
import styles from './create-client-page.module.css';
import type { Created } from './created-client.tsx';
import { loadParts } from './parts.ts';

const loadLast = () => import('./created-client.tsx');
const CreatedClient = lazy(async () => ({ default: (await loadLast()).CreatedClient }));
const ConnectPicker = lazy(async () => ({ default: (await loadParts()).ConnectPicker }));
const KeyPair = lazy(async () => ({ default: (await import('../keys/key-pair.tsx')).KeyPair }));
const ProductAddress = lazy(async () => ({ default: (await loadParts()).ProductAddress }));

const authentications = {
  CLIENT_SECRET_BASIC: {
    name: t('Client secret'),
    hint: t("Used by most products. Works at the project's issuer."),
  },
  NONE: { name: 'PKCE', hint: t('No secret: codes are bound to a verifier.') },
  PRIVATE_KEY_JWT: {
    name: t('PKCE and a private key (private_key_jwt)'),
    hint: t('The server also signs with its own private key.'),
  },
} as const;

/** Removes the suggested post-logout URI of the developer's machine together with its redirect URI. */
function redirectAnswers(redirectUris: string[], { kind, postLogoutRedirectUris: returns }: Answers): Partial<Answers> {
  const isLeft = !redirectUris.includes(developmentUris[kind]) && returns.join() === developmentReturns(kind).join();
  return { redirectUris, ...(isLeft && { postLogoutRedirectUris: [] }) };
}

const steps = [t('Type'), t('Addresses'), t('Keys and code')] as const;

/** Three-step form: application or product, URLs, text to paste or run. */
export function Component() {
  const project = useProject();
  const path = useProjectPath();
  const { mayChange } = useAccess(project.id);
  const navigate = useNavigate();
  const [created, setCreated] = useState<Created>();
  // A reload of the second step keeps them.
  const [parameters, setParameters] = useSearchParams();
  const kept = typeIn(parameters);
  const step = created ? 2 : kept ? 1 : 0;
  const [answers, setAnswers] = useState<Answers>(() => {
    const kind = kept && isKind(kept.type) ? kept.type : 'single-page';
    return {
      kind,
      name: kept?.name ?? '',
      redirectUris: [],
      postLogoutRedirectUris: [],
      method: 'NONE',
      jwks: '',
      address: '',
      ...secretDefaults,
      ...answersOf(kind),
    };
  });
  const missing = !created && kept && kept.type !== typeOf(answers).type ? kept.type : undefined;
  useEffect(() => {
    if (missing === undefined) return;
    void loadParts().then(({ answersOfProduct, productOf }) => {
      const product = productOf(missing);
      if (product) setAnswers((before) => ({ ...before, ...answersOfProduct(product, before) }));
      else setParameters({}, { replace: true });
    });
  }, [missing, setParameters]);
  // Before the application exists: the last step shows a secret.
  useEffect(() => {
    if (step === 1) void loadLast();
  }, [step]);
  useEffect(() => {
    if (step > 0) window.scrollTo({ top: 0 });
  }, [step]);
  const next = () => {
    if (!answers.isSaml) return setParameters(typeOf(answers));
    void navigate(`${path('applications/saml')}?${new URLSearchParams({ name: answers.name.trim() })}`);
  };
  const answer = (some: Partial<Answers>) => setAnswers((before) => ({ ...before, ...some }));
  return (
    <Page
      title={created ? t('{name} is ready', { name: created.client.name }) : t('Create application')}
      back={{ to: path('applications'), label: t('Applications') }}
      narrow
    >
      <Progress step={step} />
      {!mayChange ? (
        <Alert>
          {t('Only project admins create applications. You are a viewer of {name}.', { name: project.name })}
        </Alert>
      ) : step === 0 ? (
        <KindStep answers={answers} answer={answer} onNext={next} />
      ) : missing !== undefined ? (
        <LinesSkeleton />
      ) : !created ? (
        <AddressStep
          answers={answers}
          answer={answer}
          projectId={project.id}
          onBack={() => setParameters({})}
          onCreated={(client) => {
            setCreated(client);
            setParameters({}, { replace: true });
          }}
        />
      ) : (
        <Suspense>
          <CreatedClient created={created} answers={answers} />
        </Suspense>
      )}
    </Page>
  );
}

/** The steps of the form; marks the current one. */
function Progress({ step }: { step: number }) {
  return (
    <Group component="ol" gap="0.5rem 1.5rem">
      {steps.map((name, index) => (
        <Group
          key={name}
          component="li"
          gap="xs"
          {...(index === step ? { 'aria-current': 'step', fw: 600 } : { c: 'dimmed' })}
        >
          <ThemeIcon
            size="1.5rem"
            radius="xl"
            fz="xs"
            fw={600}
            variant={index === step ? 'filled' : index < step ? 'light' : 'outline'}
            color={index === step ? 'accent' : index < step ? 'good' : 'var(--soft)'}
          >
            {index + 1}
          </ThemeIcon>
          {name}
        </Group>
      ))}
    </Group>
  );
}

interface FormStepProps {
  onSubmit(): void;
  /** A part that loads on demand focuses its field. */
  hasOwnFocus?: boolean;
  children: ReactNode;
}

/** A step of the form; focuses its first field, whose text a key replaces. */
function Step({ onSubmit, hasOwnFocus = false, children }: FormStepProps) {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    const field = form.current?.querySelector<HTMLInputElement>('input:not([type="radio"])');
    if (hasOwnFocus) return;
    field?.focus();
    field?.select();
  }, [hasOwnFocus]);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    onSubmit();
  };
  return (
    <form ref={form} onSubmit={submit} noValidate>
      <Section>{children}</Section>
    </form>
  );
}

function KindStep({ answers, answer, onNext }: StepProps & { onNext(): void }) {
  const [tried, setTried] = useState(false);
  const isNamed = answers.name.trim() !== '';
  return (
    <Step
      hasOwnFocus
      onSubmit={() => {
        setTried(true);
        if (isNamed) onNext();
      }}
    >
      <Suspense>
        <ConnectPicker answers={answers} answer={answer} />
      </Suspense>
      <TextInput
        label={t('Name')}
        description={t('Shown on the sign-in page.')}
        value={answers.name}
        error={tried && !isNamed ? t('Give it a name') : undefined}
        maxLength={200}
        required
        withAsterisk={false}
        onChange={(event) => answer({ name: event.currentTarget.value })}
      />
      <Group justify="flex-end" className={styles.actions ?? ''}>
        <Button type="submit">{t('Continue')}</Button>
      </Group>
    </Step>
  );
}

interface AddressStepProps extends StepProps {
  projectId: string;
  onBack(): void;
  onCreated(created: Created): void;
}

function AddressStep({ answers, answer, projectId, onBack, onCreated }: AddressStepProps) {
  const [create, busy, failure] = useMutation(CreateClient, []);
  const [tried, setTried] = useState(false);
  const [isOpen, setOpen] = useState(false);
  const { product } = answers;
  const hasFields = !product || isOpen;
  const input = inputOf(answers, projectId);
  const uris = [...answers.redirectUris, ...answers.postLogoutRedirectUris];
  const submit = async () => {
    setTried(true);
    if (product?.address && !answers.address.trim()) return;
    if (uris.some((uri) => addressFault(uri) !== undefined) || busy) return;
    const outcome = await create({ input });
    if (outcome.data) {
      toast(t('{name} created', { name: outcome.data.createClient.client.name }));
      onCreated(outcome.data.createClient);
    }
  };
  return (
    <Step onSubmit={() => void submit()} hasOwnFocus={product !== undefined}>
      {product && (
        <Suspense>
          <ProductAddress product={product} answers={answers} answer={answer} tried={tried} />
        </Suspense>
      )}
      {!hasFields && !product.isMachine && (
        <SecondaryButton onClick={() => setOpen(true)}>{t('Change settings')}</SecondaryButton>
      )}
      {hasFields && <AddressFields answers={answers} answer={answer} failure={failure} />}
      <FormError failure={failure} except={hasFields ? ['redirectUris', 'postLogoutRedirectUris', 'jwks'] : []} />
      <Group gap="xs" className={styles.actions ?? ''}>
        <Box mr="auto">
          <ShowGraphql operation={CreateClient} variables={{ input }} />
        </Box>
        <SecondaryButton onClick={onBack}>{t('Back')}</SecondaryButton>
        <Button type="submit" loading={busy}>
          {t('Create application')}
        </Button>
      </Group>
    </Step>
  );
}

function AddressFields({ answers, answer, failure }: StepProps & { failure: Failure | undefined }) {
  const { kind, method } = answers;
  return (
    <>
      <RedirectUris
        placeholder={developmentUris[kind]}
        value={answers.redirectUris}
        error={faultAt(failure, 'redirectUris')}
        onChange={(redirectUris) => answer(redirectAnswers(redirectUris, answers))}
      />
      <PostLogoutUris
        value={answers.postLogoutRedirectUris}
        error={faultAt(failure, 'postLogoutRedirectUris')}
        onChange={(postLogoutRedirectUris) => answer({ postLogoutRedirectUris })}
      />
      {kind === 'web-server' && (
        <Radios
          label={t('Client authentication')}
          isLabelled
          options={authentications}
          value={method}
          onChange={(chosen) => answer({ method: chosen })}
        />
      )}
      {method === 'PRIVATE_KEY_JWT' && (
        <Suspense>
          <KeyPair value={answers.jwks} onChange={(jwks) => answer({ jwks })} error={faultAt(failure, 'jwks')} />
        </Suspense>
      )}
      {method === 'CLIENT_SECRET_BASIC' && <SecretDefaults answers={answers} answer={answer} />}
    </>
  );
}

/** The defaults that most products with a client secret expect, each with its reason. */
function SecretDefaults({ answers, answer }: StepProps) {
  return (
    <>
      <NativeSelect
        label={t('ID token signature')}
        description={t('Most products expect RS256.')}
        maw="28rem"
        data={optionsOf(algorithmNames)}
        value={answers.signature}
        onChange={(event) => answer({ signature: event.currentTarget.value as IdTokenAlgorithm })}
      />
      <Switch
        label={t('Allow sign-in without PKCE')}
        description={t('PKCE is used if sent; the secret and nonce protect the rest.')}
        checked={answers.pkceOptional}
        onChange={(event) => answer({ pkceOptional: event.currentTarget.checked })}
      />
      <Switch
        label={t('Refresh tokens')}
        description={t('Products renew their session without another sign-in.')}
        checked={answers.refreshTokens}
        onChange={(event) => answer({ refreshTokens: event.currentTarget.checked })}
      />
    </>
  );
}

function inputOf(answers: Answers, projectId: string): CreateClientInput {
  const { kind, method, product } = answers;
  return {
    projectId,
    name: answers.name.trim(),
    kind: storedKinds[kind],
    tokenEndpointAuthMethod: method,
    redirectUris: tidy(answers.redirectUris),
    postLogoutRedirectUris: tidy(answers.postLogoutRedirectUris),
    pkceRequired: method !== 'CLIENT_SECRET_BASIC' || !answers.pkceOptional,
    // For @latchkey/node on a back end that has no other credential.
    secretKey: kind === 'web-server' && method === 'NONE' && !product,
    ...(method === 'PRIVATE_KEY_JWT' ? { jwks: answers.jwks } : {}),
    ...(method === 'CLIENT_SECRET_BASIC' || product ? secretSettings(answers) : {}),
  };
}

function secretSettings({ product, signature, refreshTokens }: Answers): Partial<CreateClientInput> {
  if (product?.isMachine) return { idTokenSignedResponseAlg: signature, grantTypes: ['CLIENT_CREDENTIALS'] };
  return {
    idTokenSignedResponseAlg: signature,
    grantTypes: refreshTokens ? ['AUTHORIZATION_CODE', 'REFRESH_TOKEN'] : ['AUTHORIZATION_CODE'],
  };
}
