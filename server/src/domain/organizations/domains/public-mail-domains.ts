/** Providers at which anyone gets a mailbox, by region. Subdomains are included by the check. Throwaway mailboxes are in a package. */
const lists = [
  // Google, Microsoft, Yahoo, Apple.
  `gmail.com googlemail.com outlook.com hotmail.com live.com msn.com passport.com windowslive.com yahoo.com
    ymail.com rocketmail.com myyahoo.com icloud.com me.com mac.com aol.com aim.com verizon.net att.net sbcglobal.net
    bellsouth.net`,
  // Privacy and paid mail.
  `proton.me protonmail.com protonmail.ch pm.me tutanota.com tutanota.de tutamail.com tuta.io tuta.com keemail.me
    fastmail.com fastmail.fm hushmail.com hush.com mailfence.com posteo.de posteo.net mailbox.org startmail.com
    runbox.com riseup.net disroot.org zoho.com zohomail.com zohomail.eu hey.com skiff.com duck.com simplelogin.com
    mozmail.com privaterelay.appleid.com`,
  // Worldwide free mail.
  `mail.com email.com usa.com post.com europe.com consultant.com myself.com iname.com gmx.com gmx.net gmx.us
    inbox.com lycos.com excite.com rediffmail.com sify.com indiatimes.com mail.ru bk.ru list.ru inbox.ru internet.ru
    xmail.ru yandex.ru yandex.com ya.ru narod.ru rambler.ru lenta.ru autorambler.ru ro.ru ukr.net i.ua bigmir.net
    meta.ua tut.by`,
  // Germany, Austria, Switzerland.
  `gmx.de gmx.at gmx.ch web.de freenet.de t-online.de arcor.de online.de email.de 1und1.de vodafone.de kabelmail.de
    ok.de mail.de aon.at chello.at bluewin.ch hispeed.ch sunrise.ch`,
  // France, Belgium, Netherlands.
  `orange.fr wanadoo.fr free.fr sfr.fr neuf.fr laposte.net bbox.fr numericable.fr club-internet.fr aliceadsl.fr
    voila.fr skynet.be telenet.be proximus.be scarlet.be ziggo.nl kpnmail.nl kpnplanet.nl planet.nl xs4all.nl
    hetnet.nl home.nl upcmail.nl casema.nl quicknet.nl zonnet.nl`,
  // Italy, Spain, Portugal, Greece.
  `libero.it virgilio.it tiscali.it alice.it tin.it tim.it fastwebnet.it inwind.it iol.it email.it poste.it
    telefonica.net terra.es ono.com sapo.pt clix.pt otenet.gr forthnet.gr`,
  // United Kingdom, Ireland.
  `btinternet.com btopenworld.com sky.com virginmedia.com ntlworld.com blueyonder.co.uk talktalk.net tiscali.co.uk
    plus.com plusnet.com o2.co.uk eircom.net`,
  // Nordic and Baltic countries.
  `online.no getmail.no telia.com comhem.se bredband.net spray.se tele2.se telenor.dk mail.dk stofanet.dk
    youmail.dk luukku.com kolumbus.fi elisanet.fi suomi24.fi mail.ee hot.ee inbox.lv inbox.lt one.lv`,
  // Central and Eastern Europe.
  `wp.pl o2.pl onet.pl onet.eu op.pl interia.pl interia.eu poczta.onet.pl poczta.fm gazeta.pl tlen.pl vp.pl
    seznam.cz email.cz centrum.cz post.cz volny.cz atlas.cz azet.sk zoznam.sk centrum.sk post.sk freemail.hu
    citromail.hu indamail.hu t-online.hu abv.bg mail.bg dir.bg`,
  // North America.
  `comcast.net xfinity.com cox.net charter.net spectrum.net earthlink.net optonline.net juno.com netzero.net
    netzero.com frontier.com frontiernet.net windstream.net centurylink.net embarqmail.com roadrunner.com rr.com
    mindspring.com sympatico.ca rogers.com shaw.ca telus.net videotron.ca bell.net cogeco.ca`,
  // Latin America.
  `uol.com.br bol.com.br terra.com.br ig.com.br globo.com globomail.com oi.com.br zipmail.com.br r7.com
    prodigy.net.mx terra.com fibertel.com.ar arnet.com.ar speedy.com.ar ciudad.com.ar`,
  // Asia and Oceania.
  `qq.com vip.qq.com foxmail.com 163.com 126.com yeah.net vip.163.com sina.com sina.cn vip.sina.com sohu.com
    139.com 189.cn wo.cn aliyun.com tom.com 21cn.com naver.com hanmail.net daum.net nate.com kakao.com nifty.com
    biglobe.ne.jp ezweb.ne.jp docomo.ne.jp softbank.ne.jp au.com so-net.ne.jp ocn.ne.jp hinet.net pchome.com.tw
    seed.net.tw pacific.net.sg singnet.com.sg bigpond.com bigpond.net.au optusnet.com.au iinet.net.au tpg.com.au
    internode.on.net xtra.co.nz slingshot.co.nz`,
  // Africa and the Middle East.
  `walla.co.il walla.com netvision.net.il bezeqint.net mynet.com mail.az telkomsa.net mweb.co.za webmail.co.za
    vodamail.co.za maktoob.com emirates.net.ae`,
];

/** Suffixes of the regional domains of one provider. */
const regions: Record<string, string> = {
  hotmail: `at be ca ch cl co.id co.il co.in co.jp co.kr co.nz co.th co.uk co.za com.ar com.au com.br com.mx com.tr
    com.tw cz de dk es fi fr gr hu it jp lt lv my nl no ph rs se sg sk`,
  live: `at be ca cl cn co.in co.kr co.uk co.za com.ar com.au com.mx com.my com.ph com.pt com.sg de dk fi fr hk ie in
    it jp nl no ph ru se`,
  outlook: `at be cl co.id co.il co.nz co.th com.ar com.au com.br com.gr com.tr com.vn cz de dk es fr hu ie in it jp kr
    lv my ph pt sa sg sk`,
  yahoo: `at be ca cl cn co co.id co.il co.in co.jp co.kr co.nz co.th co.uk co.za com.ar com.au com.br com.cn com.co
    com.hk com.mx com.my com.ph com.sg com.tr com.tw com.ua com.ve com.vn de dk es fi fr gr hu ie in it ne.jp nl
    no pl pt ro ru se`,
};

/** Domains of public mail providers, in ASCII: no organization can own one. */
export const publicMailDomains: ReadonlySet<string> = new Set([
  ...lists.flatMap((list) => list.split(/\s+/)),
  ...Object.entries(regions).flatMap(([name, suffixes]) => suffixes.split(/\s+/).map((suffix) => `${name}.${suffix}`)),
]);
