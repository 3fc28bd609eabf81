// Plant lists in many languages, as the texts of files in the encodings that their countries used before UTF-8.

/** The Latin names of the plants of each list, in its order. */
const LATIN = `Malus domestica, Pyrus communis, Prunus avium, Prunus domestica, Quercus robur, Betula pendula, Tilia cordata,
Acer platanoides, Pinus sylvestris, Picea abies, Rosa canina, Tulipa gesneriana, Lilium candidum, Viola odorata,
Matricaria chamomilla, Mentha spicata, Lavandula angustifolia, Salvia officinalis, Thymus vulgaris, Salvia rosmarinus,
Solanum lycopersicum, Capsicum annuum, Cucumis sativus, Daucus carota, Allium cepa, Allium sativum, Fragaria vesca,
Rubus idaeus, Helianthus annuus, Dryopteris filix-mas`

type Language = {
  readonly encodings: readonly string[]
  /** The headings of a name and a tag. */
  readonly header: string
  readonly names: string
  readonly tags: string
}

export const LANGUAGES: Readonly<Record<string, Language>> = {
  german: {
    encodings: ['windows-1252', 'macintosh', 'cp850'],
    header: 'Bezeichnung;Gruppe',
    names:
      'Kulturapfel, Kultur-Birne, Vogelkirsche, Pflaume, Stieleiche, Hänge-Birke, Winterlinde, Spitzahorn, Waldkiefer, Gemeine Fichte, Hundsrose, Gartentulpe, Weiße Lilie, Duftveilchen, Echte Kamille, Grüne Minze, Schmalblättriger Lavendel, Küchensalbei, Echter Thymian, Rosmarin, Tomate, Gemüsepaprika, Gurke, Möhre, Küchenzwiebel, Knoblauch, Walderdbeere, Himbeere, Gewöhnliche Sonnenblume, Echter Wurmfarn',
    tags: 'Gehölz, Staude, Kräuter, Gemüse, für Töpfe, größere Beete',
  },
  french: {
    encodings: ['windows-1252', 'macintosh', 'cp850'],
    header: 'nom;catégorie',
    names:
      'pommier, poirier, merisier, prunier, chêne pédonculé, bouleau pleureur, tilleul à petites feuilles, érable plane, pin sylvestre, épicéa commun, églantier, tulipe des jardins, lis blanc, violette odorante, camomille allemande, menthe verte, lavande vraie, sauge officinale, thym commun, romarin, tomate, piment doux, concombre, carotte cultivée, oignon, ail cultivé, fraisier des bois, framboisier, tournesol, fougère mâle',
    tags: 'arbre fruitier, vivace été, plante médicinale, légume, à mi-ombre, prêt à planter',
  },
  spanish: {
    encodings: ['windows-1252', 'macintosh'],
    header: 'nombre;categoría',
    names:
      'manzano, peral, cerezo silvestre, ciruelo, roble común, abedul péndulo, tilo de hoja pequeña, arce real, pino albar, pícea común, rosal silvestre, tulipán, azucena, violeta de olor, manzanilla común, hierbabuena, lavanda, salvia común, tomillo, romero, jitomate, pimentón, pepino, zanahoria, cebolla, ajo común, fresa silvestre, frambueso, girasol pequeño, helecho macho',
    tags: 'árbol, hortaliza, aromática, jardín pequeño, otoño, montaña',
  },
  portuguese: {
    encodings: ['windows-1252'],
    header: 'nome;família',
    names:
      'macieira, pereira, cerejeira-brava, ameixeira, carvalho-alvarinho, bétula-branca, tília-de-folhas-pequenas, bordo-da-noruega, pinheiro-silvestre, espruce-europeu, roseira-brava, túlipa, açucena, violeta-de-cheiro, camomila-alemã, hortelã-comum, alfazema, sálvia, tomilho, alecrim, tomateiro, pimentão, pepino, cenoura, cebola, alho, morangueiro, framboeseira, girassol, feto-macho',
    tags: 'árvore de fruto, hortaliça, plantas aromáticas, conífera, meia-sombra, verão',
  },
  swedish: {
    encodings: ['windows-1252', 'macintosh', 'cp850', 'cp437'],
    header: 'namn;grupp',
    names:
      'äpple, päron, sötkörsbär, plommon, skogsek, vårtbjörk, skogslind, skogslönn, tall, gran, stenros, trädgårdstulpan, madonnalilja, luktviol, kamomill, grönmynta, lavendel, kryddsalvia, timjan, rosmarin, tomat, paprika, gurka, morot, gul lök, vitlök, smultron, hallon, solros, träjon',
    tags: 'träd, perenn för skugga, kryddväxt, köksväxt, höstplantering, lök',
  },
  finnish: {
    encodings: ['windows-1252'],
    header: 'nimi;ryhmä',
    names:
      'tarhaomenapuu, tarhapäärynäpuu, imeläkirsikka, luumupuu, metsätammi, rauduskoivu, metsälehmus, metsävaahtera, metsämänty, metsäkuusi, koiranruusu, tarhatulppaani, valkolilja, tuoksuorvokki, kamomillasaunio, viherminttu, tähkälaventeli, ryytisalvia, tarha-ajuruoho, rosmariini, tomaatti, ruokapaprika, kurkku, porkkana, ruokasipuli, valkosipuli, ahomansikka, vadelma, isoauringonkukka, kivikkoalvejuuri',
    tags: 'hedelmäpuu, syötävä kasvi, yrtti, kesäkukka, kestää pakkasta, sipulikasvi kevääksi',
  },
  polish: {
    encodings: ['windows-1250', 'iso-8859-2'],
    header: 'nazwa;rodzina',
    names:
      'jabłoń domowa, grusza pospolita, czereśnia, śliwa domowa, dąb szypułkowy, brzoza brodawkowata, lipa drobnolistna, klon zwyczajny, sosna zwyczajna, świerk pospolity, róża dzika, tulipan ogrodowy, lilia biała, fiołek wonny, rumianek pospolity, mięta zielona, lawenda wąskolistna, szałwia lekarska, tymianek właściwy, rozmaryn lekarski, pomidor zwyczajny, papryka roczna, ogórek siewny, marchew zwyczajna, cebula zwyczajna, czosnek pospolity, poziomka pospolita, malina właściwa, słonecznik zwyczajny, nerecznica samcza',
    tags: 'różowate, bukowate, jasnotowate, roślina zielna, ślazowate, do cienia',
  },
  czech: {
    encodings: ['windows-1250', 'iso-8859-2'],
    header: 'název;čeleď',
    names:
      'jabloň domácí, hrušeň obecná, třešeň ptačí, slivoň švestka, dub letní, bříza bělokorá, lípa srdčitá, javor mléč, borovice lesní, smrk ztepilý, růže šípková, tulipán zahradní, lilie bělostná, violka vonná, heřmánek pravý, máta klasnatá, levandule lékařská, šalvěj lékařská, tymián obecný, rozmarýn lékařský, rajče jedlé, paprika setá, okurka setá, mrkev obecná, cibule kuchyňská, česnek kuchyňský, jahodník obecný, ostružiník maliník, slunečnice roční, kapraď samec',
    tags: 'růžovité, hluchavkovité, lilkovité, dřevina, léčivá rostlina, vytrvalá do stínu',
  },
  hungarian: {
    encodings: ['windows-1250', 'iso-8859-2'],
    header: 'név;család',
    names:
      'nemes alma, vadkörte, madárcseresznye, házi szilva, kocsányos tölgy, közönséges nyír, kislevelű hárs, korai juhar, erdeifenyő, közönséges lucfenyő, gyepűrózsa, kerti tulipán, fehér liliom, illatos ibolya, orvosi székfű, fodormenta, közönséges levendula, orvosi zsálya, kerti kakukkfű, rozmaring, paradicsom, paprika, uborka, sárgarépa, vöröshagyma, fokhagyma, erdei szamóca, málna, napraforgó, erdei pajzsika',
    tags: 'gyümölcsfa, évelő, fűszernövény, zöldség, árnyéktűrő, díszfű',
  },
  romanian: {
    encodings: ['windows-1250'],
    header: 'denumire;familie',
    names:
      'măr, păr, cireş, prun, stejar pedunculat, mesteacăn alb, tei pucios, arţar, pin silvestru, molid, măceş, lalea, crin alb, toporaşi, muşeţel, mentă creaţă, levănţică, salvie, cimbru de grădină, rozmarin, pătlăgele roşii, ardei gras, castravete, morcov, ceapă, usturoi, frag de pădure, zmeur, floarea-soarelui, ferigă',
    tags: 'pomi fructiferi, plante medicinale, legume, conifere, umbră, grădină însorită',
  },
  russian: {
    encodings: ['windows-1251', 'koi8-r', 'cp866', 'iso-8859-5', 'x-mac-cyrillic'],
    header: 'название;семейство',
    names:
      'яблоня домашняя, груша обыкновенная, черешня, слива домашняя, дуб черешчатый, берёза повислая, липа мелколистная, клён остролистный, сосна обыкновенная, ель европейская, шиповник собачий, тюльпан Геснера, лилия белая, фиалка душистая, ромашка аптечная, мята колосистая, лаванда узколистная, шалфей лекарственный, тимьян обыкновенный, розмарин, томат, перец однолетний, огурец посевной, морковь, лук репчатый, чеснок, земляника лесная, малина обыкновенная, подсолнечник однолетний, щитовник мужской',
    tags: 'розовые, буковые, яснотковые, паслёновые, луковые, для тени',
  },
  ukrainian: {
    encodings: ['windows-1251', 'koi8-u'],
    header: 'назва;родина',
    names: `яблуня домашня, груша звичайна, черешня, слива домашня, дуб звичайний, береза повисла, липа серцелиста, клен гостролистий, сосна звичайна, ялина європейська, шипшина собача, тюльпан Ґеснера, лілія біла, фіалка запашна, ромашка лікарська, м'ята колосиста, лаванда вузьколиста, шавлія лікарська, чебрець звичайний, розмарин, помідор, перець однорічний, огірок посівний, морква, цибуля ріпчаста, часник, суниці лісові, малина звичайна, соняшник однорічний, щитник чоловічий`,
    tags: 'розові, букові, глухокропивові, пасльонові, цибулеві, для тіні',
  },
  bulgarian: {
    encodings: ['windows-1251'],
    header: 'име;семейство',
    names:
      'ябълка, круша, дива череша, синя слива, обикновен дъб, бяла бреза, дребнолистна липа, шестил, бял бор, обикновен смърч, шипка, градинско лале, бял крем, миризлива теменуга, лайка, джоджен, лавандула, градински чай, мащерка, розмарин, домат, пипер, краставица, морков, кромид лук, чесън, горска ягода, малина, слънчоглед, мъжка папрат',
    tags: 'овощно дърво, подправка, зеленчук, иглолистно, многогодишно, сянка',
  },
  greek: {
    encodings: ['windows-1253', 'iso-8859-7'],
    header: 'όνομα;οικογένεια',
    names:
      'μηλιά, αχλαδιά, κερασιά, δαμασκηνιά, βελανιδιά, σημύδα, φλαμουριά, σφένδαμος, πεύκο, ερυθρελάτη, αγριοτριανταφυλλιά, τουλίπα, κρίνος, βιολέτα, χαμομήλι, δυόσμος, λεβάντα, φασκόμηλο, θυμάρι, δεντρολίβανο, ντομάτα, πιπεριά, αγγούρι, καρότο, κρεμμύδι, σκόρδο, αγριοφράουλα, σμέουρο, ηλίανθος, φτέρη',
    tags: 'δέντρο, θάμνος, αρωματικό φυτό, λαχανικό, για σκιά, πολυετές',
  },
  turkish: {
    encodings: ['windows-1254'],
    header: 'isim;aile',
    names:
      'elma ağacı, armut, yabani kiraz, erik, saplı meşe, sarkık huş ağacı, küçük yapraklı ıhlamur, çınar yapraklı akçaağaç, sarıçam, Avrupa ladini, kuşburnu, bahçe lalesi, ak zambak, kokulu menekşe, mayıs papatyası, kıvırcık nane, lavanta çiçeği, tıbbi adaçayı, bahçe kekiği, biberiye, domates, kırmızı biber, salatalık, havuç, soğan, sarımsak, dağ çileği, ahududu, ayçiçeği, erkek eğreltiotu',
    tags: 'meyve ağacı, şifalı bitki, sebze, çok yıllık, gölge, kış için',
  },
  hebrew: {
    encodings: ['windows-1255'],
    header: 'שם;משפחה',
    names:
      'תפוח, אגס, דובדבן, שזיף, אלון, שדר, טיליה, אדר, אורן, אשוחית, ורד הכלב, צבעוני, שושן צחור, סיגל ריחני, קמומיל, נענע, לוונדר, מרווה רפואית, קורנית, רוזמרין, עגבנייה, פלפל, מלפפון, גזר, בצל, שום, תות יער, פטל, חמנית, שרך זכרי',
    tags: 'עץ פרי, צמח תבלין, ירק, רב שנתי, לצל, גיאופיט',
  },
  arabic: {
    encodings: ['windows-1256'],
    header: 'الاسم;الفصيلة',
    names:
      'تفاح, إجاص, كرز, برقوق, بلوط, بتولا, زيزفون, قيقب, صنوبر, تنوب, ورد بري, خزامى الحدائق, زنبق أبيض, بنفسج عطري, بابونج, نعناع, لافندر, ميرمية, زعتر, إكليل الجبل, طماطم, فليفلة, خيار, جزر, بصل, ثوم, فراولة برية, توت العليق, دوار الشمس, سرخس',
    tags: 'شجرة مثمرة, عشبة طبية, خضروات, نبات معمر, للظل, أبصال',
  },
  lithuanian: {
    encodings: ['windows-1257'],
    header: 'pavadinimas;šeima',
    names:
      'naminė obelis, paprastoji kriaušė, trešnė, naminė slyva, paprastasis ąžuolas, karpotasis beržas, mažalapė liepa, paprastasis klevas, paprastoji pušis, paprastoji eglė, paprastasis erškėtis, darželinė tulpė, baltoji lelija, kvapioji našlaitė, vaistinė ramunė, šaltmėtė, tikroji levanda, vaistinis šalavijas, vaistinis čiobrelis, kvapusis rozmarinas, valgomasis pomidoras, vienmetė paprika, paprastasis agurkas, valgomoji morka, valgomasis svogūnas, valgomasis česnakas, paprastoji žemuogė, paprastoji avietė, tikroji saulėgrąža, kelminis papartis',
    tags: 'medžiai, vaistažolės, daržovės, pavėsiui, daugiametės, svogūninės gėlės',
  },
  latvian: {
    encodings: ['windows-1257'],
    header: 'nosaukums;dzimta',
    names:
      'mājas ābele, parastā bumbiere, saldais ķirsis, mājas plūme, parastais ozols, āra bērzs, parastā liepa, parastā kļava, parastā priede, parastā egle, suņu roze, dārza tulpe, baltā lilija, smaržīgā vijolīte, ārstniecības kumelīte, zaļā mētra, šaurlapu lavanda, ārstniecības salvija, dārza timiāns, rozmarīns, tomāts, paprika, gurķis, burkāns, sīpols, ķiploks, meža zemene, meža avene, saulgrieze, melnā ozolpaparde',
    tags: 'augļu koks, ārstniecības augs, dārzenis, ēnai, ziemcietīgs, sīpolpuķe',
  },
  vietnamese: {
    encodings: ['windows-1258'],
    header: 'tên;họ',
    names:
      'táo tây, lê, anh đào, mận, sồi, bạch dương, đoạn, phong, thông, vân sam, hồng dại, hoa tuy líp, loa kèn trắng, hoa tím, cúc La Mã, bạc hà, oải hương, xô thơm, cỏ xạ hương, hương thảo, cà chua, ớt, dưa chuột, cà rốt, hành tây, tỏi, dâu rừng, mâm xôi, hướng dương, dương xỉ',
    tags: 'cây ăn quả, cây thuốc, rau, cây bóng mát, lâu năm, hoa củ',
  },
  thai: {
    encodings: ['windows-874'],
    header: 'ชื่อ;วงศ์',
    names:
      'แอปเปิล, แพร์, เชอร์รี, พลัม, โอ๊ก, เบิร์ช, ลินเดน, เมเปิล, สน, สปรูซ, กุหลาบป่า, ทิวลิป, ลิลลี่ขาว, ไวโอเลต, คาโมมายล์, สะระแหน่, ลาเวนเดอร์, เสจ, ไทม์, โรสแมรี่, มะเขือเทศ, พริกหวาน, แตงกวา, แครอท, หอมหัวใหญ่, กระเทียม, สตรอว์เบอร์รีป่า, ราสป์เบอร์รี, ทานตะวัน, เฟิร์น',
    tags: 'ไม้ผล, สมุนไพร, ผัก, ไม้ร่ม, ไม้ยืนต้น, ไม้หัว',
  },
  japanese: {
    encodings: ['shift_jis', 'euc-jp'],
    header: '植物名;科',
    names:
      'リンゴ, セイヨウナシ, セイヨウミザクラ, セイヨウスモモ, ヨーロッパナラ, シダレカンバ, フユボダイジュ, ノルウェーカエデ, ヨーロッパアカマツ, ドイツトウヒ, カニナバラ, チューリップ, 白百合, ニオイスミレ, カモミール, スペアミント, ラベンダー, 薬用サルビア, タチジャコウソウ, ローズマリー, トマト, 唐辛子, キュウリ, 人参, 玉葱, 大蒜, 蝦夷蛇苺, ラズベリー, 向日葵, 雄羊歯',
    tags: 'バラ科, ブナ科, シソ科, ナス科, 多年草, 日陰向き',
  },
  chinese: {
    encodings: ['gb18030'],
    header: '植物名称;科名',
    names:
      '苹果, 西洋梨, 欧洲甜樱桃, 欧洲李, 夏栎, 垂枝桦, 心叶椴, 挪威槭, 欧洲赤松, 挪威云杉, 狗蔷薇, 郁金香, 白花百合, 香堇菜, 母菊, 留兰香, 薰衣草, 药用鼠尾草, 百里香, 迷迭香, 番茄, 辣椒, 黄瓜, 胡萝卜, 洋葱, 大蒜, 野草莓, 覆盆子, 向日葵, 欧洲鳞毛蕨',
    tags: '蔷薇科, 壳斗科, 唇形科, 茄科, 多年生草本, 耐阴植物',
  },
  taiwanese: {
    encodings: ['big5'],
    header: '植物名稱;科名',
    names:
      '蘋果, 西洋梨, 歐洲甜櫻桃, 歐洲李, 夏櫟, 垂枝樺, 心葉椴, 挪威楓, 歐洲赤松, 挪威雲杉, 狗薔薇, 鬱金香, 聖母百合, 香菫菜, 洋甘菊, 綠薄荷, 薰衣草, 鼠尾草, 百里香, 迷迭香, 番茄, 辣椒, 黃瓜, 胡蘿蔔, 洋蔥, 大蒜, 野草莓, 覆盆子, 向日葵, 歐洲鱗毛蕨',
    tags: '薔薇科, 殼斗科, 唇形科, 茄科, 多年生草本, 耐陰植物',
  },
  korean: {
    encodings: ['euc-kr'],
    header: '이름;과명',
    names:
      '사과나무, 서양배나무, 양벚나무, 서양자두나무, 유럽참나무, 은자작나무, 피나무, 노르웨이단풍, 구주소나무, 독일가문비, 개장미, 튤립, 흰백합, 향기제비꽃, 카밀레, 녹양박하, 라벤더, 약용샐비어, 백리향, 로즈마리, 토마토, 고추, 오이, 당근, 양파, 마늘, 숲딸기, 나무딸기, 해바라기, 관중',
    tags: '장미과, 참나무과, 꿀풀과, 가지과, 여러해살이풀, 그늘',
  },
}

const listOf = (text: string): readonly string[] => text.split(',').map((name) => name.trim())
const latin = listOf(LATIN)

/** A list of so many rows, from the plant `first` on; `withLatin`: its names are Latin and common ones. */
export function plantList(language: Language, rows: number, first = 0, withLatin = true): string {
  const names = listOf(language.names)
  const tags = listOf(language.tags)
  const lines = Array.from({ length: rows }, (_, row) => {
    const place = (first + row) % names.length
    const tag = tags[(first + row * 5 + Math.floor(row / names.length)) % tags.length]
    return [row + 1, ...(withLatin ? [latin[place]] : []), names[place], tag].join(';')
  })
  return [`id;${withLatin ? 'latin;' : ''}${language.header}`, ...lines, ''].join('\r\n')
}
