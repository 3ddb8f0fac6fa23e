import { Anchor, Button, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'react-router';
import { addressOf } from '../../products/address.ts';
import type { Product, Setting, Values } from '../../products/product.ts';
import { useMutation } from '../api.ts';
import type { Client } from '../clients/client-part.ts';
import { CreateRole } from '../generated/operations.ts';
import { t } from '../language/language.ts';
import { useProject, useProjectPath } from '../projects/project.tsx';
import { Code } from '../ui/code/code.tsx';
import { CopyField } from '../ui/code/copy.tsx';
import { FormError } from '../ui/feedback/errors.tsx';
import { toast } from '../ui/feedback/toast.tsx';
import { Section } from '../ui/layout/page.tsx';

interface ProductSettingsProps {
  product: Product;
  client: Client;
  clientSecret: string | null;
  /** As entered. */
  address: string;
}

/** The settings to paste into the product, with this application's values, and its roles. */
export function ProductSettings({ product, client, clientSecret, address: entered }: ProductSettingsProps) {
  const project = useProject();
  const path = useProjectPath();
  const address = addressOf(entered);
  const values: Values = {
    issuer: project.issuer,
    clientId: client.id,
    clientSecret: clientSecret ?? '',
    address,
    encoded: encodeURIComponent,
  };
  return (
    <>
      <Section
        title={product.isMachine ? t('Get a token') : t('Settings of {name}', { name: product.name })}
        lead={product.isMachine ? t('Your values are filled in.') : t('Paste them there. Your values are filled in.')}
      >
        <Stack gap="lg">
          {product.settings.map((setting) => (
            <Part key={setting.name} setting={setting} values={values} />
          ))}
          {!product.isMachine && (
            <Anchor href={`/docs/products#${product.id}`} target="_blank">
              {t('Notes on {name} in the documentation', { name: product.name })}
            </Anchor>
          )}
          {product.isMachine && (
            <Link to={path(`applications/${client.id}/apis`)} target="_blank">
              {t('Choose the APIs it may call')}
            </Link>
          )}
        </Stack>
      </Section>
      {product.roles && <ProductRoles roles={product.roles} name={product.name} clientId={client.id} />}
    </>
  );
}

/** The values are highlighted in code, and copied without their marks. */
function Part({ setting, values }: { setting: Setting; values: Values }) {
  return (
    <div>
      <Text fw={600} mb="xs">
        {setting.name}
      </Text>
      {'code' in setting ? (
        <Code label={setting.name} code={marked(setting.code(values), values)} />
      ) : (
        <Fields fields={setting.fields(values)} />
      )}
    </div>
  );
}

function Fields({ fields }: { fields: readonly (readonly [label: string, value: string])[] }) {
  return (
    <SimpleGrid cols={{ base: 1, sm: 2 }}>
      {fields.map(([label, value]) => (
        <CopyField key={label} label={label} value={value} />
      ))}
    </SimpleGrid>
  );
}

/** The application's values between ‹ and ›. The issuer may begin with the address of the product. */
function marked(code: string, { issuer, clientId, clientSecret, address }: Values): string {
  const values = [issuer, clientId, clientSecret, address].filter((value) => value !== '');
  const escaped = values.map((value) => value.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
  return code.replace(new RegExp(escaped.join('|'), 'g'), '‹$&›');
}

function ProductRoles({ roles, name, clientId }: { roles: readonly string[]; name: string; clientId: string }) {
  const path = useProjectPath();
  const [create, busy, failure] = useMutation(CreateRole, []);
  const [isDone, setDone] = useState(false);
  const createAll = async () => {
    for (const key of roles) {
      const outcome = await create({ input: { clientId, key, name: key } });
      if (!outcome.data) return;
    }
    setDone(true);
    toast(t('Roles created'));
  };
  return (
    <Section title={t('Roles')} lead={t('{name} reads these roles: {roles}.', { name, roles: roles.join(', ') })}>
      <Group>
        <Button variant="default" loading={busy} disabled={isDone} onClick={() => void createAll()}>
          {t('Create roles')}
        </Button>
        <Link to={path(`applications/${clientId}/roles`)} target="_blank">
          {t('Assign roles')}
        </Link>
      </Group>
      <FormError failure={failure} />
    </Section>
  );
}
