// Plant lists in many languages, each with the encodings used for that language before UTF-8.

/** The Latin names of the plants, in the order of each list. */
const LATIN = `Malus domestica, Pyrus communis, Prunus avium, Prunus domestica, Quercus robur, Betula pendula, Tilia cordata, Acer platanoides, Pinus sylvestris, Picea abies, Rosa canina, Tulipa gesneriana`

type Language = {
  readonly encodings: readonly string[]
  /** The headings of the name and tag columns. */
  readonly header: string
  readonly names: string
  readonly tags: string
}

export const LANGUAGES: Readonly<Record<string, Language>> = {
  german: {
    encodings: ['windows-1252', 'macintosh', 'cp850'],
    header: 'Bezeichnung;Gruppe',
    names:
      'Kulturapfel, Kultur-Birne, Vogelkirsche, Pflaume, Stieleiche, Hänge-Birke, Winterlinde, Spitzahorn, Waldkiefer, Gemeine Fichte, Hundsrose, Gartentulpe',
    tags: 'Gehölz, Staude, Kräuter, Gemüse, für Töpfe, größere Beete',
  },
  french: {
    encodings: ['windows-1252', 'macintosh', 'cp850'],
    header: 'nom;catégorie',
    names:
      'pommier, poirier, merisier, prunier, chêne pédonculé, bouleau pleureur, tilleul à petites feuilles, érable plane, pin sylvestre, épicéa commun, églantier, tulipe des jardins',
    tags: 'arbre fruitier, vivace été, plante médicinale, légume, à mi-ombre, prêt à planter',
  },
  spanish: {
    encodings: ['windows-1252', 'macintosh'],
    header: 'nombre;categoría',
    names:
      'manzano, peral, cerezo silvestre, ciruelo, roble común, abedul péndulo, tilo de hoja pequeña, arce real, pino albar, pícea común, rosal silvestre, tulipán',
    tags: 'árbol, hortaliza, aromática, jardín pequeño, otoño, montaña',
  },
  swedish: {
    encodings: ['windows-1252', 'macintosh', 'cp850', 'cp437'],
    header: 'namn;grupp',
    names:
      'äpple, päron, sötkörsbär, plommon, skogsek, vårtbjörk, skogslind, skogslönn, tall, gran, stenros, trädgårdstulpan',
    tags: 'träd, perenn för skugga, kryddväxt, köksväxt, höstplantering, lök',
  },
  polish: {
    encodings: ['windows-1250', 'iso-8859-2'],
    header: 'nazwa;rodzina',
    names:
      'jabłoń domowa, grusza pospolita, czereśnia, śliwa domowa, dąb szypułkowy, brzoza brodawkowata, lipa drobnolistna, klon zwyczajny, sosna zwyczajna, świerk pospolity, róża dzika, tulipan ogrodowy',
    tags: 'różowate, bukowate, jasnotowate, roślina zielna, ślazowate, do cienia',
  },
  czech: {
    encodings: ['windows-1250', 'iso-8859-2'],
    header: 'název;čeleď',
    names:
      'jabloň domácí, hrušeň obecná, třešeň ptačí, slivoň švestka, dub letní, bříza bělokorá, lípa srdčitá, javor mléč, borovice lesní, smrk ztepilý, růže šípková, tulipán zahradní',
    tags: 'růžovité, hluchavkovité, lilkovité, dřevina, léčivá rostlina, vytrvalá do stínu',
  },
  hungarian: {
    encodings: ['windows-1250', 'iso-8859-2'],
    header: 'név;család',
    names:
      'nemes alma, vadkörte, madárcseresznye, házi szilva, kocsányos tölgy, közönséges nyír, kislevelű hárs, korai juhar, erdeifenyő, közönséges lucfenyő, gyepűrózsa, kerti tulipán',
    tags: 'gyümölcsfa, évelő, fűszernövény, zöldség, árnyéktűrő, díszfű',
  },
  romanian: {
    encodings: ['windows-1250'],
    header: 'denumire;familie',
    names:
      'măr, păr, cireş, prun, stejar pedunculat, mesteacăn alb, tei pucios, arţar, pin silvestru, molid, măceş, lalea',
    tags: 'pomi fructiferi, plante medicinale, legume, conifere, umbră, grădină însorită',
  },
  russian: {
    encodings: ['windows-1251', 'koi8-r', 'cp866', 'iso-8859-5', 'x-mac-cyrillic'],
    header: 'название;семейство',
    names:
      'яблоня домашняя, груша обыкновенная, черешня, слива домашняя, дуб черешчатый, берёза повислая, липа мелколистная, клён остролистный, сосна обыкновенная, ель европейская, шиповник собачий, тюльпан Геснера',
    tags: 'розовые, буковые, яснотковые, паслёновые, луковые, для тени',
  },
  ukrainian: {
    encodings: ['windows-1251', 'koi8-u'],
    header: 'назва;родина',
    names: `яблуня домашня, груша звичайна, черешня, слива домашня, дуб звичайний, береза повисла, липа серцелиста, клен гостролистий, сосна звичайна, ялина європейська, шипшина собача, тюльпан Ґеснера`,
    tags: 'розові, букові, глухокропивові, пасльонові, цибулеві, для тіні',
  },
  greek: {
    encodings: ['windows-1253', 'iso-8859-7'],
    header: 'όνομα;οικογένεια',
    names:
      'μηλιά, αχλαδιά, κερασιά, δαμασκηνιά, βελανιδιά, σημύδα, φλαμουριά, σφένδαμος, πεύκο, ερυθρελάτη, αγριοτριανταφυλλιά, τουλίπα',
    tags: 'δέντρο, θάμνος, αρωματικό φυτό, λαχανικό, για σκιά, πολυετές',
  },
  turkish: {
    encodings: ['windows-1254'],
    header: 'isim;aile',
    names:
      'elma ağacı, armut, yabani kiraz, erik, saplı meşe, sarkık huş ağacı, küçük yapraklı ıhlamur, çınar yapraklı akçaağaç, sarıçam, Avrupa ladini, kuşburnu, bahçe lalesi',
    tags: 'meyve ağacı, şifalı bitki, sebze, çok yıllık, gölge, kış için',
  },
  hebrew: {
    encodings: ['windows-1255'],
    header: 'שם;משפחה',
    names: 'תפוח, אגס, דובדבן, שזיף, אלון, שדר, טיליה, אדר, אורן, אשוחית, ורד הכלב, צבעוני',
    tags: 'עץ פרי, צמח תבלין, ירק, רב שנתי, לצל, גיאופיט',
  },
  arabic: {
    encodings: ['windows-1256'],
    header: 'الاسم;الفصيلة',
    names: 'تفاح, إجاص, كرز, برقوق, بلوط, بتولا, زيزفون, قيقب, صنوبر, تنوب, ورد بري, خزامى الحدائق',
    tags: 'شجرة مثمرة, عشبة طبية, خضروات, نبات معمر, للظل, أبصال',
  },
  lithuanian: {
    encodings: ['windows-1257'],
    header: 'pavadinimas;šeima',
    names:
      'naminė obelis, paprastoji kriaušė, trešnė, naminė slyva, paprastasis ąžuolas, karpotasis beržas, mažalapė liepa, paprastasis klevas, paprastoji pušis, paprastoji eglė, paprastasis erškėtis, darželinė tulpė',
    tags: 'medžiai, vaistažolės, daržovės, pavėsiui, daugiametės, svogūninės gėlės',
  },
  latvian: {
    encodings: ['windows-1257'],
    header: 'nosaukums;dzimta',
    names:
      'mājas ābele, parastā bumbiere, saldais ķirsis, mājas plūme, parastais ozols, āra bērzs, parastā liepa, parastā kļava, parastā priede, parastā egle, suņu roze, dārza tulpe',
    tags: 'augļu koks, ārstniecības augs, dārzenis, ēnai, ziemcietīgs, sīpolpuķe',
  },
  vietnamese: {
    encodings: ['windows-1258'],
    header: 'tên;họ',
    names:
      'táo tây, lê, anh đào, mận, sồi, bạch dương, đoạn, phong, thông, vân sam, hồng dại, hoa tuy líp',
    tags: 'cây ăn quả, cây thuốc, rau, cây bóng mát, lâu năm, hoa củ',
  },
  thai: {
    encodings: ['windows-874'],
    header: 'ชื่อ;วงศ์',
    names: 'แอปเปิล, แพร์, เชอร์รี, พลัม, โอ๊ก, เบิร์ช, ลินเดน, เมเปิล, สน, สปรูซ, กุหลาบป่า, ทิวลิป',
    tags: 'ไม้ผล, สมุนไพร, ผัก, ไม้ร่ม, ไม้ยืนต้น, ไม้หัว',
  },
  japanese: {
    encodings: ['shift_jis', 'euc-jp'],
    header: '植物名;科',
    names:
      'リンゴ, セイヨウナシ, セイヨウミザクラ, セイヨウスモモ, ヨーロッパナラ, シダレカンバ, フユボダイジュ, ノルウェーカエデ, ヨーロッパアカマツ, ドイツトウヒ, カニナバラ, チューリップ',
    tags: 'バラ科, ブナ科, シソ科, ナス科, 多年草, 日陰向き',
  },
  chinese: {
    encodings: ['gb18030'],
    header: '植物名称;科名',
    names:
      '苹果, 西洋梨, 欧洲甜樱桃, 欧洲李, 夏栎, 垂枝桦, 心叶椴, 挪威槭, 欧洲赤松, 挪威云杉, 狗蔷薇, 郁金香',
    tags: '蔷薇科, 壳斗科, 唇形科, 茄科, 多年生草本, 耐阴植物',
  },
  taiwanese: {
    encodings: ['big5'],
    header: '植物名稱;科名',
    names:
      '蘋果, 西洋梨, 歐洲甜櫻桃, 歐洲李, 夏櫟, 垂枝樺, 心葉椴, 挪威楓, 歐洲赤松, 挪威雲杉, 狗薔薇, 鬱金香',
    tags: '薔薇科, 殼斗科, 唇形科, 茄科, 多年生草本, 耐陰植物',
  },
  korean: {
    encodings: ['euc-kr'],
    header: '이름;과명',
    names:
      '사과나무, 서양배나무, 양벚나무, 서양자두나무, 유럽참나무, 은자작나무, 피나무, 노르웨이단풍, 구주소나무, 독일가문비, 개장미, 튤립',
    tags: '장미과, 참나무과, 꿀풀과, 가지과, 여러해살이풀, 그늘',
  },
}

const listOf = (text: string): readonly string[] => text.split(',').map((name) => name.trim())
const latin = listOf(LATIN)

/** Returns a list of `rows` rows, with Latin and common names. */
export function plantList(language: Language, rows: number): string {
  const names = listOf(language.names)
  const tags = listOf(language.tags)
  const lines = Array.from({ length: rows }, (_, row) => {
    const place = row % names.length
    const tag = tags[(row * 5 + Math.floor(row / names.length)) % tags.length]
    return [row + 1, latin[place], names[place], tag].join(';')
  })
  return [`id;latin;${language.header}`, ...lines, ''].join('\r\n')
}
